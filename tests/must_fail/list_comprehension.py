def f(A, n):
    squares = [i * i for i in range(n) if A[i] > 0]
    for i in range(n):
        A[i] = squares[i]
