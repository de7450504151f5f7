def f(A, n):
    def square(x):
        return x * x

    for i in range(n):
        A[i] = square(A[i])
