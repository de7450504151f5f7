def f(A, x):
    assert -1 <= x <= 1, "x must be in range"
    for i in range(len(A)):
        A[i] = x * A[i]
