def f(x, k):
    if k == 0:
        return np.zeros(x.shape[0])
    y = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = x[i] * k
    return y
