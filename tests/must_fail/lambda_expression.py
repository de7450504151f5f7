def f(A, n):
    square = lambda x: x * x
    twice = square
    for i in range(n):
        A[i] = twice(A[i])
