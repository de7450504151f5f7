def f(A, n):
    for i in range(n):
        if A[i] is A[0]:
            A[i] = 0.0
