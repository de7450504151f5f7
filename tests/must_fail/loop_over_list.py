def f(A):
    for i in [1, 3, 5]:
        A[i] = 0.0
        i = i + 1
