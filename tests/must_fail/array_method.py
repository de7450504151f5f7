def f(A, s):
    for i in range(len(s)):
        s[i] = A.sum()
