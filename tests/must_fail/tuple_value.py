def f(A, n):
    pair = (1.0, 2.0)
    other = pair
    for i in range(n):
        A[i] = other[0] + pair[1]
