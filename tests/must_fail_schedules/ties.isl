{ S[i, j] -> [i, j]; R[i, j, k] -> [i, j] }
