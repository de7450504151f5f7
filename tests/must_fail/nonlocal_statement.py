def f(A, n):
    nonlocal total
    for i in range(n):
        total = A[i]
