def f(a, b):
    a += b
