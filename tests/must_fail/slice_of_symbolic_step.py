def f(x, n, k):
    x[0:n:k] = 0.0
