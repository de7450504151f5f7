def f(x, y):
    for i in range(len(x)):
        y[i] = x[i]
    z = x[0, 1] + y
    return z
