def f(A, n):
    for i in range(n):
        if i > 1:
            if A[i] > 1.0:
                continue
            A[i] = 1.0
        A[i] += 1.0
