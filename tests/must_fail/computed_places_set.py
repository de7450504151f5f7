def f(x, n):
    x[np.arange(n) * 2] += x[1]
