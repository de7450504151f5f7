def f(x, y, n):
    x[1:n] = y[1 : n - 1]
