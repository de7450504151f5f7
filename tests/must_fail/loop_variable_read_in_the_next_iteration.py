def f(A, n):
    for t in range(n):
        if t > 0:
            A[0] += j
        for j in range(3):
            A[1] += j
        if A[2] > 100:
            break
        j = 5
