def fib(k):
    return fib(k - 1) + fib(k - 2)


def f(A, n):
    for i in range(n):
        A[i] = fib(i)
