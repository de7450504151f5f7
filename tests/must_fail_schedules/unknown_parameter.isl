[m] -> { S[i, j] -> [0, i, j]; R[i, j, k] -> [m, i, j, k] }
