def f(A, n):
    first, *rest = A
    for i in range(n):
        A[i] = first
