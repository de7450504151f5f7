def f(A, n):
    def square(x):
        return x * x

    twice = square
    for i in range(n):
        A[i] = twice(A[i])
