for t in range(T):
    new = np.zeros(n)
    for i in range(1, n - 1):
        new[i] = x[i - 1] + x[i + 1]
    x = new
