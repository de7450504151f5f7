m = A[0]
for i in range(int(m)):
    row = A.copy()
    A[i] = row[i + 1]
