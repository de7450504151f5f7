"""One solution for each exercise of the course."""

SOLUTIONS = {
    "first-interchange": 'interchange(order=("j", "i"))',
    "triangle": "for i in range(n):\n    for j in range(i + 1, n):\n        A[i, j] = 0.0",
    "stripes": "for i in range(n):\n    for j in range(n):\n        if (i + j) % 2 == 0:\n            A[i, j] = 0.0",
    "flow-diagonal": "for i in range(2, n):\n    for j in range(n - 1):\n        A[i, j] = A[i - 2, j + 1]",
    "columns": 'interchange(order=("j", "i"))',
    "crooked": 'reversal(at="j")\ninterchange(order=("j", "i"))',
    "inner-loop": "{ S0[i, j] -> [i + j, j] }",
    "tile-sweep": 'tile(at="i", sizes=(4, 4))',
    "tile-stencil": 'skew(at="i", by="t")\ntile(at="t", sizes=(24, 16))',
    "stencil-waves": "{ S0[t, i] -> [2t + i, t] }",
    "product-lines": 'interchange(order=("k", "j", "i"))',
    "product-tiles": 'interchange(order=("k", "j", "i"))\ntile(at="k", sizes=(8, 8, 8))',
    "one-late": 'shift(at="S1.i", amount=1)\nfuse(children=("S0", "S1"), depth=1)',
    "device-threads": 'interchange(order=("j", "i"))\nvector(at="i")',
    "parallel-lines": 'tile(at="i", sizes=(8, 8))\ninterchange(order=("j_tile", "i_tile"))',
    "backward-lines": 'reversal(at="j")\ninterchange(order=("j", "i"))',
    "jacobi-lines": 'schedule("pluto", tile=(8, 8, 8))',
    "rewrite": (
        "for k in range(n):\n    for j in range(n):\n        for i in range(n):\n"
        "            C[j, i] += A[k, i] * B[k, j]"
    ),
}
