import random


def f(A):
    for i in range(len(A)):
        A[i] = random.random()
