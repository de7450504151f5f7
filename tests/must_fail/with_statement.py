def f(A, n):
    with objmode():
        for i in range(n):
            A[i] = 0.0
