{ S[i, j] -> [0, i * j, j]; R[i, j, k] -> [1, i, j, k] }
