def f(y):
    x = y[:] + 1
    return x
