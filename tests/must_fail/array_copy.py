def f(A, s):
    for i in range(len(A)):
        s[i] = A.copy()[0]
