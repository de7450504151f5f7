def f(A, n):
    for i in range(n):
        for j in range(n):
            if A[i] > j:
                j = n
            A[i] += j
