def f(U, n):
    for t in range(n):
        for i in range(1, n):
            U[2, i] = U[1, i - 1] + U[0, i]
        U[0], U[1], U[2] = U[1], U[2], U[0]
