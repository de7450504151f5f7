def square(x):
    return x * x


def f(A, n):
    for i in range(n):
        A[i] = square(A[i], 2)
