{ S[i, j] -> [0, i, j] : i < j; S[i, j] -> [0, j, i] : i > j; R[i, j, k] -> [1, i, j, k] }
