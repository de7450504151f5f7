{ S[i, j] -> [0, i, j, 0]; R[i, j, k] -> [1, i, j, k] }{ S[i, j] -> [j, i] }
