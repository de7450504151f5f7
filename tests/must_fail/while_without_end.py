def f(x):
    while True:
        for i in range(x.shape[0]):
            x[i] *= 0.5
            if x[i] < 1.0:
                break
