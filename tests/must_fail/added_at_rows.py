def f(A: "float64[:, :]", i: "int64[:]"):
    np.add.at(A, i, 1.0)
