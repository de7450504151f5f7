def f(A, n):
    for i in range(n):
        A[i] = (x := A[i] * 2) + x
