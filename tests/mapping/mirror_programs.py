"""Rows that are updated through a copy, for the tests of mirrors."""

from __future__ import annotations

PROGRAMS = {
    "reversed": """
        def turned(y, x, steps):
            z = np.zeros(len(y))
            for k in range(1, steps):
                for i in range(k):
                    z[i] = y[i] + x[k] * y[k - i - 1]
                for i in range(k):
                    y[i] = z[i]
                y[k] = x[k]
        """,
    "from the second cell on, and of other arrays": """
        def turned(y, x, steps):
            z = np.empty(len(y))
            for k in range(2, steps):
                for i in range(1, k):
                    z[i] = 0.5 * x[i] - y[k - i] / x[k - i + 1] + y[0]
                for i in range(1, k):
                    y[i] = z[i]
        """,
    "the copy elsewhere, and backwards": """
        def turned(y, x, steps):
            z = np.zeros(len(y) + 3)
            for k in range(1, steps):
                for i in range(k):
                    z[i + 3] = y[k - 1 - i] - 0.25 * x[i]
                for i in range(k - 1, -1, -1):
                    y[i] = z[i + 3]
        """,
    "of one length": """
        def turned(y, x, steps):
            z = np.zeros(len(y))
            for t in range(steps):
                for i in range(len(y)):
                    z[i] = -0.5 * y[i] + 0.5 * y[len(y) - 1 - i]
                for i in range(len(y)):
                    y[i] = z[i]
        """,
}
ALONE = {
    "a neighbour": """
        def alone(y, x, steps):
            z = np.zeros(len(y))
            for k in range(2, steps):
                for i in range(1, k):
                    z[i] = y[k - i] + y[i - 1]
                for i in range(1, k):
                    y[i] = z[i]
        """,
    "turned around another middle": """
        def alone(y, x, steps):
            z = np.zeros(len(y))
            for k in range(1, steps):
                for i in range(k):
                    z[i] = y[i] + y[k - i]
                for i in range(k):
                    y[i] = z[i]
        """,
    "the copy is returned": """
        def alone(y, x, steps):
            z = np.zeros(len(y))
            for k in range(1, steps):
                for i in range(k):
                    z[i] = y[i] + y[k - i - 1]
                for i in range(k):
                    y[i] = z[i]
            return z
        """,
    "the copy is read once more": """
        def alone(y, x, steps):
            z = np.zeros(len(y))
            for k in range(1, steps):
                for i in range(k):
                    z[i] = y[i] + y[k - i - 1]
                for i in range(k):
                    y[i] = z[i]
                x[k] = z[0]
        """,
    "another part is copied": """
        def alone(y, x, steps):
            z = np.zeros(len(y))
            for k in range(1, steps):
                for i in range(k):
                    z[i] = y[i] + y[k - i - 1]
                for i in range(k):
                    y[i] = z[k - i - 1]
        """,
    "every cell for itself": """
        def alone(y, x, steps):
            z = np.zeros(len(y))
            for k in range(1, steps):
                for i in range(k):
                    z[i] = y[i] + x[k - i - 1]
                for i in range(k):
                    y[i] = z[i]
                y[k] = y[k - 1]
        """,
    "more than a copy": """
        def alone(y, x, steps):
            z = np.zeros(len(y))
            for k in range(1, steps):
                for i in range(k):
                    z[i] = y[i] + y[k - i - 1]
                for i in range(k):
                    y[i] = 2.0 * z[i]
        """,
}
