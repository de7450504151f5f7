def f(A, n):
    squares = [i * i for i in range(n)]
    for i in range(n):
        A[i] = squares[i]
