def f(A, n):
    for i in range(n):
        A[i] = round(A[i], ndigits=2)
