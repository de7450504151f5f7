def f(größe, n):
    for i in range(n):
        größe[i] = "größer" + größe[i]
