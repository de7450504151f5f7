def f(x, n):
    x[x[0] : n] = 0.0
