def f(A, n):
    for i in range(n):
        if i > 1:
            if A[i] > 1.0:
                continue
            A[i] = 1.0
        if i > 2:
            if A[i] > 2.0:
                continue
            A[i] = 2.0
        if i > 3:
            if A[i] > 3.0:
                continue
            A[i] = 3.0
        if i > 4:
            if A[i] > 4.0:
                continue
            A[i] = 4.0
        if i > 5:
            if A[i] > 5.0:
                continue
            A[i] = 5.0
        if i > 6:
            if A[i] > 6.0:
                continue
            A[i] = 6.0
        A[i] += 1.0
