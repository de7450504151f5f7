{ S[i, j, k] -> [0, i, j]; R[i, j, k] -> [1, i, j, k] }
