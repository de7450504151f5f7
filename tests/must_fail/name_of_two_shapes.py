def f(A, B, k):
    s = A.shape
    if k > 0:
        s = B.shape
    for i in range(s[0]):
        A[i] = B[i]
