def f(A, n):
    for i in range(n):
        A[i] = 18446744073709551616
