def f(u, steps):
    for t in range(steps):
        if t > 0:
            u[1:] = u[1:] - 0.5 * change
        change = u[1:] - u[:-1]
