def f(x, v, out):
    k = np.searchsorted(x, v)
    for i in range(v.shape[0]):
        out[i] = k[i]
