def f(x):
    x[0] = 1.0
    return x, (x[1], 2.0)
