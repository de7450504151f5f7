def total(A, n):
    s = 0.0
    for i in range(n):
        s += A[i]
    return s


def f(A, n):
    for i in range(n):
        A[i] = total(A, n) if A[i] > 0 else 0.0
