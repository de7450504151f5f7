{ S[i, j] -> [0, i, j]; R[i, j, k] -> [1, i, j, k] : k < n - 1 }
