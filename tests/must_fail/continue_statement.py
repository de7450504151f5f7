def f(A, n):
    for i in range(n):
        if i == 3:
            continue
        A[i] = 0.0
