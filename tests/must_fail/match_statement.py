def f(A, n):
    for i in range(n):
        match i:
            case 0:
                A[i] = 0.0
