{ domain: "[n] -> { S[i, j] : 0 <= i, j < n; R[i, j, k] : 0 <= i, j, k < n }", child: { schedule: "[n] -> [{ S[i, j] -> [(i)] }]" }
