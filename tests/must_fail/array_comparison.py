def f(x, y, n):
    x[0:n] = y > 0
    y[0] = x[0]
