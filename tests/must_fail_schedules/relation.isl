{ S[i, j] -> [0, t] : t >= i; R[i, j, k] -> [1, i, j, k] }
