def f(A, n):
    square = lambda x: x * x
    for i in range(n):
        A[i] = square(A[i])
