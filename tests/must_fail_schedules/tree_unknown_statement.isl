{ domain: "[n] -> { T[i] : 0 <= i < n }", child: { schedule: "[n] -> [{ T[i] -> [(i)] }]" } }
