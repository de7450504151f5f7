@timed(repeats=3)
def f(A, n):
    for i in range(n):
        A[i] = 0.0
