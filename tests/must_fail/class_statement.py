def f(A, n):
    class Cell:
        pass

    for i in range(n):
        A[i] = 0.0
