def f(x, y, n, k):
    x[0:n:k] = y[0:n:k]
