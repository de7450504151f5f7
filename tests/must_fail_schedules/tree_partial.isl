{ domain: "[n] -> { S[i, j] : 0 <= i, j < n }", child: { schedule: "[n] -> [{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]" } }
