def f(p: "int64[:]"):
    p[p] = 0
