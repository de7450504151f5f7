def first(r):
    x = np.zeros(int(r[0]))
    for i in range(3):
        x[i] = r[i]
    return x


def f(A, B):
    for n in range(A.shape[0]):
        B[n, :] = first(A[n, :])
