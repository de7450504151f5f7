def f(image, weight, n):
    for i in range(n):
        image[i] = imgae[i] * weight
