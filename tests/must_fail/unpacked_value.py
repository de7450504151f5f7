def f(A, n):
    for i in range(n):
        whole, part = np.modf(A[i])
        A[i] = part
