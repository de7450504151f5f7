def f(A, n):
    kept = []
    for i in range(n):
        kept.append(2 * A[i])
    return kept
