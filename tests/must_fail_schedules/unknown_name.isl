{ S[i, j] -> [0, i, w]; R[i, j, k] -> [1, i, j, k] }
