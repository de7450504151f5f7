from scipy.special import erf


def f(A, n):
    for i in range(n):
        A[i] = erf(A[i])
