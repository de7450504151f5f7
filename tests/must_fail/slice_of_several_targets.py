def f(x, y):
    x[:] = y[:] = 0.0
