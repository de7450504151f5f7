def f(x):
    v = x[x > 3]
    x[0] = 1.0
    return v.sum()
