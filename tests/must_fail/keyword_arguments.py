def f(A, **options):
    for i in range(10):
        A[i] = 0.0
