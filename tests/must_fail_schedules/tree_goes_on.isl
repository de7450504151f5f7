{ domain: "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n; R[i, j, k] : 0 <= i < n and 0 <= j < n and 0 <= k < n }" }
and more
