def f(*arrays):
    for i in range(10):
        arrays[i] = 0.0
