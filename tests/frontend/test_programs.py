"""Programs as people write them for numba, compared with Python: results, and every access that really happens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.agreement import agree

RANDOM = np.random.default_rng(20)


def numbers(*shape: int) -> Any:
    return RANDOM.standard_normal(shape)


def integers(below: int, *shape: int) -> Any:
    return RANDOM.integers(0, below, shape)


PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {}


def program(name: str, text: str, **arguments: Any) -> None:
    PROGRAMS[name] = (text, arguments)


program(
    "alias",
    """
def f(A, n):
    m = n // 2
    half = (n - 1) // 2
    for i in range(m):
        k = i + half
        A[k] = A[i] + k
""",
    A=numbers(20),
    n=9,
)

program(
    "bilinear_resampling",
    """
def f(image, out, sy, sx):
    for i in range(out.shape[0]):
        above = i * sy
        y = int(above)
        fy = above - y
        y1 = min(y + 1, image.shape[0] - 1)
        for j in range(out.shape[1]):
            x = int(j * sx)
            fx = j * sx - x
            x1 = min(x + 1, image.shape[1] - 1)
            top = image[y, x] * (1 - fx) + image[y, x1] * fx
            out[i, j] = top * (1 - fy) + (image[y1, x] * (1 - fx) + image[y1, x1] * fx) * fy
            out[i, j] += image[int(i / 2.5), int((j + 0.5) * sx)]
""",
    image=numbers(3, 4),
    out=numbers(5, 7),
    sy=0.5,
    sx=0.4,
)

program(
    "part_of_the_iterations",
    """
def f(A, n, part):
    half = int(n / 2)
    for i in range(half):
        A[i] = A[i + half]
    for i in range(int(n * part)):
        A[i] += 1
""",
    A=numbers(9),
    n=9,
    part=0.7,
)

program(
    "negative_subscripts",
    """
def f(A):
    n = len(A)
    A[-1] = 3.0
    for i in range(n - 1):
        A[i] = A[i - 1] + A[-2]
""",
    A=numbers(7),
)

program(
    "linearised_arrays",
    """
def f(A, B, n):
    for i in range(n):
        for j in range(n):
            A[i * n + j] = B[j * n + i]
""",
    A=numbers(25),
    B=numbers(25),
    n=5,
)

program(
    "loops_that_never_run",
    """
def f(A):
    for i in range(4, 2):
        for j in range(3):
            A[j] = i
""",
    A=numbers(3),
)

program(
    "sieve",
    """
def f(A, n):
    for i in range(2, n):
        if A[i]:
            for j in range(i * i, n, i):
                A[j] = False
""",
    A=np.ones(40, bool),
    n=40,
)

program(
    "step_of_an_outer_loop",
    """
def f(A, n):
    for i in range(n):
        for j in range(n - 1, i, -i - 1):
            A[j] = A[j] + i
""",
    A=numbers(9),
    n=9,
)

program(
    "step_that_is_an_argument",
    """
def f(A, B, n, k):
    for i in range(0, n, k):
        A[i] = 2 * A[i]
    for i in range(n - 1, -1, -k):
        B[i] = A[i] + B[i]
""",
    A=numbers(10),
    B=numbers(10),
    n=10,
    k=3,
)

program(
    "element_used_through_its_attributes_only",
    """
def f(A, B, C, D, n):
    for i in range(n):
        A[i] = B[i].conjugate()
        D[i] = C[i].imag
""",
    A=numbers(3) * 1j,
    B=numbers(3) + 2j,
    C=numbers(3) - 1j,
    D=numbers(3),
    n=3,
)

program(
    "fill_of_rows",
    """
def f(A, n):
    for i in range(n):
        A[i, 1:n] = 0.0
    A[0] = 1.0
    A[-1, ::2] = 2.0
""",
    A=numbers(4, 4),
    n=4,
)

program(
    "copy_of_slices",
    """
def f(x, y, n):
    x[1 : n - 1] = y[2:n]
    x[-3:] += y[:3]
    y[:] = x[::-1]
""",
    x=numbers(7),
    y=numbers(7),
    n=7,
)

program(
    "arithmetic_of_whole_arrays",
    """
def f(A, B, c):
    A += B
    B[...] = A * c + np.sqrt(np.abs(B)) / 2 - 1
    A[1:3, 0] = B[0, 2:]
    A[0, 0] = 5.0
    B[0, 0] = 5.0
""",
    A=numbers(4, 4),
    B=numbers(4, 4),
    c=1.5,
)

program(
    "values_before_the_first_is_stored",
    """
def f(u, T):
    for t in range(T):
        u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3.0
    u[:] = u[0] * 2
""",
    u=numbers(9),
    T=3,
)

program(
    "whole_numbers_before_the_first_is_stored",
    """
def f(a):
    a[1:] += a[:-1] * 3
    a[1:] = a[0]
""",
    a=integers(9, 6),
)

program(
    "rows_broadcast",
    """
def f(A, b, n):
    A[:, 1:] = b[1:]
    for i in range(n):
        A[i] -= b[i]
    A[::2, 1::2] = A[1::2, ::2]
""",
    A=numbers(4, 4),
    b=numbers(4),
    n=4,
)

program(
    "elimination_by_slices",
    """
def f(L, n):
    for k in range(n):
        L[k + 1 : n, k] = L[k + 1 : n, k] / L[k, k]
        for j in range(k + 1, n):
            L[k + 1 : n, j] -= L[k + 1 : n, k] * L[k, j]
""",
    L=numbers(5, 5) + 9 * np.eye(5),
    n=5,
)

program(
    "slices_of_new_arrays",
    """
def f(a):
    n = len(a)
    B = np.zeros((n, 3))
    B[:, 0] = a
    B[:, 1:] = 7
    B += 1
    return B
""",
    a=numbers(4),
)

program(
    "derived_parameter",
    """
def f(A, n, m):
    for i in range(n * m):
        A[i] = i
    for i in range(int(n / 2)):
        A[i] = 0
""",
    A=numbers(25),
    n=5,
    m=4,
)

program(
    "swap",
    """
def f(n):
    x, y = 0.0, 1.0
    for i in range(n):
        x, y = y, x + y
    return x, y
""",
    n=9,
)

program(
    "several_targets",
    """
def f(A, n):
    a = b = 0
    for i in range(n):
        A[i] = b = a + 0.5
        a += b
    return a + b
""",
    A=numbers(9),
    n=9,
)

program(
    "csr",
    """
def f(ptr, idx, val, x, y):
    n = len(y)
    for i in range(n):
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            s += val[k] * x[idx[k]]
        y[i] = s
""",
    ptr=np.array([0, 2, 2, 5]),
    idx=np.array([0, 2, 1, 2, 0]),
    val=numbers(5),
    x=numbers(3),
    y=numbers(3),
)

program(
    "condition_on_data",
    """
def f(A, B, n):
    for i in range(n):
        if A[i] > 0 and i > 2:
            t = A[i] * 2
            B[i] = t
        else:
            B[i] = 0
""",
    A=numbers(9),
    B=numbers(9),
    n=9,
)

program(
    "parity",
    """
def f(A, n):
    for i in range(n):
        if i % 2 == 0:
            A[i] = 1
        elif i % 3 == 1 or i > 7:
            A[i] = 2
        else:
            A[i] = 3
""",
    A=numbers(12),
    n=12,
)

program(
    "negstep",
    """
def f(A, n):
    for i in range(n - 1, -1, -3):
        for j in range(i, n, 2):
            A[i, j] = i + j
""",
    A=numbers(12, 12),
    n=12,
)

program(
    "minmax",
    """
def f(A, n, b):
    for ii in range(0, n, 4):
        for i in range(ii, min(ii + 4, n)):
            for j in range(max(0, i - 2), min(n, i + 3, b)):
                A[i, j] += 1
""",
    A=numbers(12, 12),
    n=11,
    b=8,
)

program(
    "loops_in_sequence",
    """
def f(A):
    n = A.shape[0]
    s = 0.0
    for i in range(n):
        s += A[i]
    if n > 0:
        for j in range(n):
            A[j] = s
    return s / n
""",
    A=numbers(5),
)

program(
    "counter",
    """
def f(A, n):
    k = 0
    for i in range(2, n, 2):
        A[k] = i
        k += 1
    return k
""",
    A=numbers(12),
    n=12,
)

program(
    "helper",
    """
def relu(x):
    y = x * 1.0
    return max(y, 0.0)

def f(A, n):
    for i in range(n):
        A[i] = relu(A[i]) + relu(-1.0)
""",
    A=numbers(12),
    n=12,
)

program(
    "arrays_made_inside",
    """
def f(n):
    B = np.zeros((n, n + 1), dtype=np.float32)
    C = np.ones_like(B)
    D = np.full(n, 2.5)
    for i in range(n):
        for j in range(n + 1):
            B[i, j] = C[i, j] + D[i]
    return B
""",
    n=4,
)

program(
    "shadow",
    """
def f(A, n):
    for i in range(n):
        A[i] += 1
        for i in range(3):
            A[i] += 2
""",
    A=numbers(12),
    n=12,
)

program(
    "loop_variable_hides_an_argument",
    """
def f(A, n):
    for n in range(n):
        A[n] += 1
""",
    A=numbers(12),
    n=12,
)

program(
    "size_assigned_again",
    """
def f(A, n):
    n = n - 1
    for i in range(n):
        i = i + 1
        A[i] = i
    n -= 2
    for i in range(n):
        A[i] *= 2
""",
    A=numbers(12),
    n=12,
)

program(
    "ifexp",
    """
def f(A, n):
    for i in range(n):
        A[i] = A[i - 1] if i > 0 else 0.0
""",
    A=numbers(12),
    n=12,
)

program(
    "argument_assigned",
    """
def f(A, alpha, n):
    alpha = alpha * 2
    for i in range(n):
        A[i] *= alpha
    return alpha
""",
    A=numbers(12),
    n=12,
    alpha=1.5,
)

program(
    "chain",
    """
def f(A, n):
    for i in range(n):
        if 2 <= i < n - 2 != 4:
            A[i] = 1
        if not (i == 3 or i == 4):
            A[i] += 1
""",
    A=numbers(12),
    n=12,
)

program(
    "pushdown",
    """
def f(A, B, flag, n):
    if flag > 0.5:
        for i in range(n):
            A[i] = 1
    else:
        for i in range(n):
            A[i] = B[i]
""",
    A=numbers(12),
    B=numbers(12),
    n=12,
    flag=0.7,
)

program(
    "integer_flag",
    """
def f(A, mode, n):
    if mode == 1:
        for i in range(n):
            A[i] = 1
    else:
        A[0] = 2
""",
    A=numbers(12),
    n=12,
    mode=1,
)

program(
    "scalar_compared_with_zero",
    """
def f(A, beta, n):
    for i in range(n):
        if beta == 0:
            A[i] = 0
        else:
            A[i] *= beta
""",
    A=numbers(12),
    n=12,
    beta=0.5,
)

program(
    "index_chosen_by_condition",
    """
def f(A, B, n):
    for i in range(n):
        k = 1
        if i > 3:
            k = 2
        A[i] = B[i + k]
""",
    A=numbers(12),
    B=numbers(20),
    n=12,
)

program(
    "data_index",
    """
def f(A, idx, n):
    for i in range(n):
        k = idx[i]
        A[k] += 1
""",
    A=numbers(12),
    idx=integers(12, 9),
    n=9,
)

program(
    "comparison_with_halves",
    """
def f(A, n):
    for i in range(n):
        if i < n / 2:
            A[i] = 1
        if i >= 0.5 * n:
            A[i] = 2
""",
    A=numbers(13),
    n=13,
)

program(
    "loop_under_a_condition_on_data",
    """
def f(A, n):
    for i in range(n):
        if A[i] > 0:
            for j in range(i):
                A[j] = A[j] + 1
""",
    A=numbers(13),
    n=13,
)

program(
    "complex_numbers",
    """
def f(z, n):
    for i in range(n):
        z[i] = z[i].real + 1j * z[i].imag * 2 + z[i].conjugate()
""",
    z=numbers(5) + 1j * numbers(5),
    n=5,
)

program(
    "maximum",
    """
def f(A):
    m = A[0]
    for i in range(1, len(A)):
        if A[i] > m:
            m = A[i]
    return m
""",
    A=numbers(9),
)

program(
    "argmax",
    """
def f(A):
    best = 0
    for i in range(1, len(A)):
        if A[i] > A[best]:
            best = i
    return best
""",
    A=numbers(9),
)

program(
    "abs",
    """
def f(A, n):
    for i in range(n):
        for j in range(n):
            A[i, j] = abs(i - j) + min(i, j) * (i // 2) + (i & 1)
            if abs(i - j) <= 1:
                A[i, j] = 0
""",
    A=numbers(9, 9),
    n=9,
)

program(
    "histogram",
    """
def f(x, h):
    for i in range(len(x)):
        b = int(x[i] * 4)
        if b >= 0 and b < len(h):
            h[b] += 1
""",
    x=abs(numbers(9)),
    h=np.zeros(4),
)

program(
    "empty_loop",
    """
def f(A, n):
    s = 0.0
    for i in range(n):
        s += A[i]
    return s
""",
    A=numbers(3),
    n=0,
)

program(
    "second_name_of_an_array",
    """
def f(A):
    B = A
    for i in range(len(B)):
        B[i] = A[i] + 1
    return B
""",
    A=numbers(3),
)

program(
    "row_sums",
    """
def f(A, n):
    for i in range(n):
        t = i * 2.0
        for j in range(i, n):
            t = t + A[i, j]
        A[i, i] = t
""",
    A=numbers(4, 4),
    n=4,
)

program(
    "boolean_scalar",
    """
def f(A, n):
    ok = True
    for i in range(n):
        ok = ok and A[i] > -5.0
    return ok
""",
    A=numbers(4),
    n=4,
)

program(
    "window",
    """
def f(A, n):
    for i in range(n):
        lo = max(0, i - 1)
        hi = min(n, i + 2)
        s = 0.0
        for j in range(lo, hi):
            s += A[j]
        A[i] = s
""",
    A=numbers(6),
    n=6,
)

program(
    "quadratic_bound",
    """
def f(A, n):
    for i in range(n):
        for j in range(i * i):
            A[i] += j
""",
    A=numbers(6),
    n=6,
)

program(
    "bubble",
    """
def f(A):
    n = len(A)
    for i in range(n):
        for j in range(0, n - i - 1):
            if A[j] > A[j + 1]:
                A[j], A[j + 1] = A[j + 1], A[j]
""",
    A=numbers(7),
)

program(
    "pivot",
    """
def f(A, b):
    n = A.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        for j in range(n):
            t = A[k, j]
            A[k, j] = A[p, j]
            A[p, j] = t
        t = b[k]
        b[k] = b[p]
        b[p] = t
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= m * A[k, j]
            b[i] -= m * b[k]
""",
    A=numbers(5, 5),
    b=numbers(5),
)

program(
    "powers_of_two_as_bounds",
    """
def f(A, n, stages):
    for s in range(stages):
        m = 2 ** s
        for k in range(0, n // 2):
            A[k] += A[k + 1] * m
    for s in range(stages):
        h = 1 << s
        for k in range(h):
            A[k] = A[k + h] + 1
""",
    A=numbers(20),
    n=8,
    stages=3,
)

program(
    "bodies",
    """
def f(x, a, n):
    for i in range(n):
        acc = 0.0
        for j in range(n):
            if i != j:
                d = x[j] - x[i]
                acc += d / (abs(d) ** 3 + 1e-9)
        a[i] = acc
""",
    x=numbers(6),
    a=numbers(6),
    n=6,
)

program(
    "two_time_buffers",
    """
def f(A, T):
    n = A.shape[1]
    for t in range(T):
        for i in range(1, n - 1):
            A[(t + 1) % 2, i] = 0.5 * (A[t % 2, i - 1] + A[t % 2, i + 1])
""",
    A=numbers(2, 9),
    T=4,
)

program(
    "periodic",
    """
def f(A, B):
    n = len(A)
    for i in range(n):
        B[i] = A[(i + 1) % n] + A[(i - 1) % n] + A[(i - 1 + n) % n]
""",
    A=numbers(6),
    B=numbers(6),
)

program(
    "thomas",
    """
def f(a, b, c, d, x):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
""",
    a=numbers(6),
    b=numbers(6),
    c=numbers(6),
    d=numbers(6),
    x=numbers(6),
)

program(
    "mandel",
    """
def f(out, n, maxiter):
    for i in range(n):
        for j in range(n):
            z = 0j
            c = complex(-2 + 3 * i / n, -1.5 + 3 * j / n)
            count = 0
            for k in range(maxiter):
                if abs(z) <= 2.0:
                    z = z * z + c
                    count += 1
            out[i, j] = count
""",
    out=np.zeros((4, 4)),
    n=4,
    maxiter=6,
)

program(
    "conv",
    """
def f(img, ker, out):
    h, w = img.shape
    kh, kw = ker.shape
    for y in range(h - kh + 1):
        for x in range(w - kw + 1):
            s = 0.0
            for dy in range(kh):
                for dx in range(kw):
                    s += img[y + dy, x + dx] * ker[dy, dx]
            out[y, x] = s
""",
    img=numbers(6, 7),
    ker=numbers(3, 2),
    out=numbers(6, 7),
)

program(
    "common_subsequence",
    """
def f(a, b, L):
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                L[i, j] = L[i - 1, j - 1] + 1
            else:
                L[i, j] = max(L[i - 1, j], L[i, j - 1])
    return L[len(a), len(b)]
""",
    a=integers(3, 5),
    b=integers(3, 6),
    L=np.zeros((6, 7), dtype=int),
)

program(
    "knapsack",
    """
def f(w, v, K):
    n = len(w)
    W = K.shape[1]
    for i in range(1, n + 1):
        for c in range(W):
            K[i, c] = K[i - 1, c]
            if w[i - 1] <= c:
                K[i, c] = max(K[i, c], K[i - 1, c - w[i - 1]] + v[i - 1])
""",
    w=integers(4, 5) + 1,
    v=numbers(5),
    K=np.zeros((6, 9)),
)

program(
    "keyword_only",
    """
def f(A, *, n, scale=2.0):
    for i in range(n):
        A[i] *= scale
""",
    A=numbers(5),
    n=5,
)

program(
    "negative_numbers",
    """
def f(A, n):
    for i in range(-n, n + 1):
        A[i + n] = i // 2 + i % 3 + (-i) // 4
""",
    A=numbers(11),
    n=5,
)

program(
    "position_of_the_maximum",
    """
def f(A):
    n, m = A.shape
    best = -1.0
    bi = 0
    bj = 0
    for i in range(n):
        for j in range(m):
            v = A[i, j]
            if v > best:
                best = v
                bi = i
                bj = j
    return best, bi, bj
""",
    A=numbers(3, 4),
)

program(
    "scalar_set_in_both_arms",
    """
def f(A, n):
    for i in range(n):
        if i < 3:
            x = 1.0
        else:
            x = A[i]
        A[i] = x * 2
""",
    A=numbers(6),
    n=6,
)

program(
    "multitarget",
    """
def f(A, B, n):
    for i in range(n):
        A[i] = B[i] = A[i] + B[i]
""",
    A=numbers(6),
    B=numbers(6),
    n=6,
)

program(
    "tuple_with_subscript",
    """
def f(A, n):
    i = 0
    for t in range(n):
        i, A[i] = t, 3.0
""",
    A=numbers(9),
    n=6,
)

program(
    "negative_strides",
    """
def f(A, n):
    for i in range(10, 2, -2):
        for j in range(i, 0, -3):
            A[j] += i
""",
    A=numbers(12),
    n=6,
)

program(
    "loop_variables_after_their_loops",
    """
def f(A):
    for i in range(2, 9, 3):
        A[i] = 0
    for j in range(i, 11):
        A[j] += 1
    last = j
    A[last] = 5
    return last
""",
    A=numbers(12),
)

program(
    "counter_in_two_loops",
    """
def f(A, B, n):
    k = 0
    for i in range(n):
        for j in range(n):
            A[k] = B[i, j]
            k += 1
""",
    A=numbers(9),
    B=numbers(3, 3),
    n=3,
)

program(
    "compaction",
    """
def f(A, B):
    k = 0
    for i in range(len(A)):
        if A[i] > 0:
            B[k] = A[i]
            k += 1
    return k
""",
    A=numbers(9),
    B=numbers(9),
)

program(
    "neighbours_by_condition",
    """
def f(A, B, n):
    for i in range(n):
        l = i - 1 if i > 0 else n - 1
        r = i + 1 if i < n - 1 else 0
        B[i] = A[l] + A[r]
""",
    A=numbers(6),
    B=numbers(6),
    n=6,
)

program(
    "quadrants",
    """
def f(A, B, C):
    n = A.shape[0]
    h = n // 2
    for i in range(h):
        for j in range(h):
            for k in range(h):
                C[i, j + h] += A[i, k + h] * B[k + h, j]
                C[h + i, j] += A[h + i, k] * B[k, h + j]
""",
    A=numbers(6, 6),
    B=numbers(6, 6),
    C=numbers(6, 6),
)

program(
    "transpose_inplace",
    """
def f(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            tmp = A[i, j]
            A[i, j] = A[j, i]
            A[j, i] = tmp
""",
    A=numbers(5, 5),
)

program(
    "subscripts_from_the_end",
    """
def f(A):
    n = A.shape[0]
    for i in range(1, n):
        A[-i] = i
    A[0] = A[-1] + A[-2]
""",
    A=numbers(5),
)

program(
    "power",
    """
def f(A, n):
    for i in range(n):
        A[i] = A[i] ** 2 + 2 ** i - i ** 2 // 3
""",
    A=numbers(5),
    n=5,
)

program(
    "logic",
    """
def f(A, B, n):
    for i in range(n):
        B[i] = (A[i] > 0 and A[i] < 1) or not (A[i] == 2)
        x = A[i] or 3.0
        A[i] = x
""",
    A=numbers(5),
    B=numbers(5),
    n=5,
)

program(
    "boolarr",
    """
def f(m, A):
    for i in range(len(m)):
        if m[i]:
            A[i] = 1
        if not m[i] and i > 1:
            A[i] = 2
""",
    m=np.array([True, False, True, False]),
    A=numbers(4),
)

program(
    "size_of_a_vector",
    """
def f(A, B):
    for i in range(A.size):
        A[i] = B.size
    for i in range(B.size):
        A[i % 3] += 1
""",
    A=numbers(5),
    B=numbers(6),
)

program(
    "full",
    """
def f(n, v):
    B = np.full((n, 2), v)
    s = 0.0
    for i in range(n):
        s += B[i, 1]
    return s, B
""",
    n=3,
    v=2.5,
)

program(
    "diamond",
    """
def f(A, n):
    for t in range(2 * n - 1):
        for i in range(max(0, t - n + 1), min(t + 1, n)):
            A[i, t - i] = t
""",
    A=numbers(5, 5),
    n=5,
)

program(
    "two_accumulators",
    """
def f(A, alpha):
    s = 0.0
    t = 1.0
    for i in range(len(A)):
        if A[i] > alpha:
            s += A[i]
        else:
            t *= A[i]
    r = s / t
    return r
""",
    A=numbers(5),
    alpha=0.1,
)

program(
    "continue1",
    """
def f(A, n):
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            if A[i, j] < 0:
                A[i, j] = 0
                continue
            A[i, j] += 1
""",
    A=numbers(5, 5),
    n=5,
)

program(
    "life",
    """
def f(g, out):
    n, m = g.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            count = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        count += g[i + di, j + dj]
            if g[i, j] == 1 and (count == 2 or count == 3):
                out[i, j] = 1
            elif g[i, j] == 0 and count == 3:
                out[i, j] = 1
            else:
                out[i, j] = 0
""",
    g=integers(2, 5, 6),
    out=integers(2, 5, 6),
)

program(
    "integer_matrix",
    """
def f(n: int, m: int, A, x, y):
    for i in range(0, n):
        acc = 0
        for j in range(0, m):
            acc = acc + A[i, j] * x[j]
        y[i] = acc
""",
    n=3,
    m=4,
    A=integers(5, 3, 4),
    x=integers(5, 4),
    y=integers(5, 3),
)

program(
    "inner_carried_alias",
    """
def f(A, n):
    prev = 0
    for i in range(n):
        A[i] += A[prev]
        prev = i
""",
    A=numbers(5),
    n=5,
)

program(
    "tiles",
    """
def f(A, n):
    step = 4
    for i0 in range(0, n, step):
        hi = i0 + step
        if hi > n:
            hi = n
        for i in range(i0, hi):
            A[i] *= 2
""",
    A=numbers(10),
    n=10,
)

program(
    "flag_that_stops",
    """
def f(A, n):
    go = True
    for i in range(n):
        if go:
            if A[i] > 0.5:
                go = False
            else:
                A[i] = 0
""",
    A=numbers(10),
    n=10,
)

program(
    "helper_on_an_array",
    """
def lap(A, i, j):
    return A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] - 4 * A[i, j]

def f(A, B):
    n, m = A.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            B[i, j] = lap(A, i, j)
""",
    A=numbers(5, 5),
    B=numbers(5, 5),
)

program(
    "prange",
    """
def f(A):
    s = 0.0
    for i in prange(len(A)):
        s += A[i]
    return s
""",
    A=numbers(5),
)

program(
    "integer_factor",
    """
def f(A, k, n):
    for i in range(n):
        A[i] = A[i] * k + k
""",
    A=numbers(5),
    n=5,
    k=3,
)

program(
    "threshold",
    """
def f(A, t, n):
    for i in range(n):
        if A[i] < t:
            A[i] = t
""",
    A=numbers(5),
    n=5,
    t=0.3,
)

program(
    "iterator_below_argument",
    """
def f(A, k, n):
    for i in range(n):
        if i < k:
            A[i] = 0
""",
    A=numbers(5),
    n=5,
    k=3,
)

program(
    "param_product",
    """
def f(A, n, m):
    for i in range(n):
        for j in range(m):
            A[i * m + j] = i + j
    total = n * m
    for k in range(total):
        A[k] += 1
""",
    A=numbers(15),
    n=5,
    m=3,
)

program(
    "torus",
    """
def f(g, out, T):
    n, m = g.shape
    for t in range(T):
        for i in range(n):
            for j in range(m):
                out[i, j] = g[(i - 1) % n, j] + g[(i + 1) % n, (j + 1) % m] + g[i, (j + m - 1) % m]
        for i in range(n):
            for j in range(m):
                g[i, j] = out[i, j] * 0.25
""",
    g=numbers(4, 5),
    out=numbers(4, 5),
    T=2,
)

program(
    "wrapdiv",
    """
def f(A, n):
    for i in range(2 * n):
        A[i % n] += i // n
""",
    A=numbers(5),
    n=5,
)

program(
    "notwrap",
    """
def f(A, n, k):
    for i in range(n):
        A[(i + k) % n] += 1
""",
    A=numbers(5),
    n=5,
    k=13,
)

program(
    "cell_finals",
    """
for i in range(n):
    for j in range(i, m):
        A[i, j] = i
    for j in range(3):
        A[i, j] += 1
for i in range(5, 2, -1):
    A[i, 0] = 9
""",
    A=numbers(8, 8),
    n=5,
    m=4,
)

program(
    "cell_empty",
    """
for i in range(n):
    A[i] = 1.0
for i in range(m):
    A[i] = 2.0
""",
    A=numbers(8),
    n=5,
    m=0,
)

program(
    "cell_nested_finals",
    """
for t in range(T):
    for i in range(t):
        A[i] += t
""",
    A=numbers(8),
    T=5,
)

program(
    "cell_nested_finals_1",
    """
for t in range(T):
    for i in range(t):
        A[i] += t
""",
    A=numbers(8),
    T=1,
)

program(
    "cell_strided",
    """
for i in range(1, n, 3):
    A[i] = i
for j in range(n, 1, -4):
    A[j] += i
""",
    A=numbers(20),
    n=15,
)

program(
    "cell_if_loops",
    """
if n > 3:
    for i in range(n):
        A[i] = 0
else:
    for i in range(2):
        A[i] = 1
""",
    A=numbers(20),
    n=15,
)

program(
    "cell_with_scalars",
    """
s = 0.0
c = 0
for i in range(n):
    s += A[i]
    c += 1
    last = A[i] * 2
mean = s / n
k = n // 2
A[k] = mean
""",
    A=numbers(20),
    n=15,
)

program(
    "aliases_merged",
    """
def f(A, n, flip):
    if n > 5:
        lo = 1
        hi = n - 1
    else:
        lo = 0
        hi = n
    for i in range(lo, hi):
        A[i] += 1
""",
    A=numbers(20),
    n=7,
    flip=1,
)

program(
    "name_of_several_types",
    """
def f(A, n):
    x = 3
    for i in range(x):
        A[i] = x
    x = 2.5
    for i in range(n):
        A[i] += x
    x = n
    for i in range(x):
        A[i] -= x
""",
    A=numbers(20),
    n=7,
)

program(
    "deep_cond",
    """
def f(A, n):
    for i in range(n):
        for j in range(n):
            if i < j:
                if A[i, j] > 0:
                    if i + j < n:
                        A[i, j] = 1
                    else:
                        A[j, i] = 2
                elif i == 0:
                    A[i, j] = 3
            elif i == j and i % 2:
                A[i, i] = 4
""",
    A=numbers(7, 7),
    n=7,
)

program(
    "row_maximum",
    """
def f(A, B):
    n, m = A.shape
    for i in range(n):
        B[i] = 0
        for j in range(m):
            if A[i, j] > B[i]:
                B[i] = A[i, j]
        for j in range(m):
            A[i, j] /= B[i] if B[i] != 0 else 1.0
""",
    A=numbers(4, 5),
    B=numbers(4),
)

program(
    "softmax",
    """
def f(A, out):
    n, m = A.shape
    for i in range(n):
        mx = -np.inf
        for j in range(m):
            mx = max(mx, A[i, j])
        s = 0.0
        for j in range(m):
            e = math.exp(A[i, j] - mx)
            out[i, j] = e
            s += e
        for j in range(m):
            out[i, j] /= s
""",
    A=numbers(4, 5),
    out=numbers(4, 5),
)

program(
    "kmeans",
    """
def f(X, Cn, lab):
    n, d = X.shape
    k = Cn.shape[0]
    for i in range(n):
        best = 1e30
        arg = -1
        for c in range(k):
            s = 0.0
            for q in range(d):
                diff = X[i, q] - Cn[c, q]
                s += diff * diff
            if s < best:
                best = s
                arg = c
        lab[i] = arg
""",
    X=numbers(6, 2),
    Cn=numbers(3, 2),
    lab=np.zeros(6, int),
)

program(
    "clamped",
    """
def f(A, B):
    h, w = A.shape
    for i in range(h):
        for j in range(w):
            s = 0.0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    ii = min(max(i + di, 0), h - 1)
                    jj = min(max(j + dj, 0), w - 1)
                    s += A[ii, jj]
            B[i, j] = s / 9.0
""",
    A=numbers(4, 5),
    B=numbers(4, 5),
)

program(
    "guarded_stencil",
    """
def f(A, B):
    h, w = A.shape
    for i in range(h):
        for j in range(w):
            s = A[i, j]
            if i > 0:
                s += A[i - 1, j]
            if i < h - 1:
                s += A[i + 1, j]
            if j > 0 and i != j:
                s += A[i, j - 1]
            B[i, j] = s
""",
    A=numbers(4, 5),
    B=numbers(4, 5),
)

program(
    "levenshtein",
    """
def f(a, b, D):
    n = len(a)
    m = len(b)
    for i in range(n + 1):
        D[i, 0] = i
    for j in range(m + 1):
        D[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + cost)
    return D[n, m]
""",
    a=integers(3, 4),
    b=integers(3, 5),
    D=np.zeros((5, 6)),
)

program(
    "dft",
    """
def f(x, re, im):
    N = len(x)
    for k in range(N):
        re[k] = 0.0
        im[k] = 0.0
        for n in range(N):
            ang = 2.0 * math.pi * k * n / N
            re[k] += x[n] * math.cos(ang)
            im[k] -= x[n] * math.sin(ang)
""",
    x=numbers(5),
    re=numbers(5),
    im=numbers(5),
)

program(
    "names_of_builtins",
    """
def f(A):
    sum = 0.0
    max = A[0]
    for i in range(len(A)):
        sum += A[i]
        if A[i] > max:
            max = A[i]
    return sum, max
""",
    A=numbers(5),
)

program(
    "bands",
    """
def f(A, B, bw):
    n = A.shape[0]
    for i in range(n):
        for j in range(max(0, i - bw), min(n, i + bw + 1)):
            B[i] += A[i, j]
""",
    A=numbers(6, 6),
    B=numbers(6),
    bw=2,
)

program(
    "interpolation",
    """
def f(x, tab, y):
    for i in range(len(x)):
        p = x[i] * (len(tab) - 1)
        k = int(p)
        w = p - k
        y[i] = tab[k] * (1 - w) + tab[k + 1] * w
""",
    x=abs(numbers(5)) % 0.9,
    tab=numbers(9),
    y=numbers(5),
)

program(
    "scatter",
    """
def f(idx, v, out):
    for i in range(len(idx)):
        out[idx[i]] += v[i]
        out[idx[i] + 1] -= v[i]
""",
    idx=integers(5, 8),
    v=numbers(8),
    out=numbers(8),
)

program(
    "pairs_of_neighbours",
    """
def f(A, n):
    for i in range(0, n - 1, 2):
        A[i], A[i + 1] = A[i + 1], A[i]
    for i in range(1, n - 1, 2):
        if A[i] > A[i + 1]:
            t = A[i]
            A[i] = A[i + 1]
            A[i + 1] = t
""",
    A=numbers(9),
    n=9,
)

program(
    "odd_even_phases",
    """
def f(A):
    n = len(A)
    for phase in range(n):
        for i in range(phase % 2, n - 1, 2):
            if A[i] > A[i + 1]:
                A[i], A[i + 1] = A[i + 1], A[i]
""",
    A=numbers(9),
)

program(
    "scalar_through_if",
    """
def f(A, n):
    s = 0.0
    for i in range(n):
        if i == 0:
            s = A[0]
        else:
            s = s * 0.5 + A[i]
        A[i] = s
""",
    A=numbers(9),
    n=9,
)

program(
    "bit_operations",
    """
def f(A, n):
    for i in range(n):
        A[i ^ 1] = i & 3
        A[i | 1] += i << 1
        A[(i >> 1)] += ~i
        A[i & 1] += 5
""",
    A=numbers(40),
    n=8,
)

program(
    "floor_ceil",
    """
def f(A, n):
    for i in range(math.ceil(n / 2)):
        A[i] = 1
    for i in range(int(np.floor(n / 3)), n):
        A[math.floor(i / 2)] += 2
""",
    A=numbers(40),
    n=9,
)

program(
    "compound_alias",
    """
def f(A, B, n):
    for i in range(n):
        base = 2 * i
        for k in range(2):
            p = base + k
            q = p // 2
            A[p] = B[q] + q
""",
    A=numbers(40),
    B=numbers(20),
    n=9,
)

program(
    "three_dimensions",
    """
def f(A, B):
    n = A.shape[0]
    m, p = A.shape[1], A.shape[2]
    for i in range(n):
        for j in range(m):
            for k in range(p):
                B[k][i][j] = A[i][j][k]
""",
    A=numbers(2, 3, 4),
    B=numbers(4, 2, 3),
)

program(
    "strings_and_comments",
    """
def f(A):
    '''doc'''
    n = len(A)
    '''text'''
    for i in range(n):
        # comment
        'also'
        A[i] = 0
    pass
    return None
""",
    A=numbers(3),
)

program(
    "returned_tuple",
    """
def f(A):
    n = len(A)
    return n, A[0], 3, A
""",
    A=numbers(3),
)

program(
    "range_neg",
    """
def f(A, n):
    for i in range(n, -n, -2):
        A[i] = i
""",
    A=numbers(20),
    n=5,
)

program(
    "steps_after_convergence",
    """
def f(A, n):
    done = 0
    for it in range(n):
        if done == 0:
            err = 0.0
            for i in range(1, len(A) - 1):
                new = 0.5 * (A[i - 1] + A[i + 1])
                err = max(err, abs(new - A[i]))
                A[i] = new
            if err < 0.1:
                done = 1
    return done
""",
    A=numbers(8),
    n=20,
)

program(
    "unused_loop",
    """
def f(A, n):
    for _ in range(n):
        for i in range(1, len(A)):
            A[i] += A[i - 1]
""",
    A=numbers(8),
    n=3,
)

program(
    "bool_and_int",
    """
def f(A, n):
    flag = n > 3
    for i in range(n):
        if flag:
            A[i] = 1
        A[i] += (i > 2) * 1.5
""",
    A=numbers(8),
    n=5,
)

program(
    "iterator_as_float",
    """
def f(A, n):
    h = 1.0 / n
    for i in range(n + 1):
        x = i * h
        A[i] = x * x
""",
    A=numbers(8),
    n=5,
)

program(
    "floor_of_negative_numbers",
    """
def f(A, n):
    for i in range(n):
        A[(i - 7) // 3 + 5] += (i - 7) % 4
""",
    A=numbers(20),
    n=12,
)

program(
    "packed_triangle",
    """
def f(A, P, n):
    for i in range(n):
        for j in range(i + 1):
            P[i * (i + 1) // 2 + j] = A[i, j]
""",
    A=numbers(5, 5),
    P=numbers(15),
    n=5,
)

program(
    "constant_condition",
    """
def f(A, n):
    DEBUG = False
    k = 4
    for i in range(n):
        if DEBUG:
            A[i] = 0
        if k == 4:
            A[i] += 1
""",
    A=numbers(5),
    n=5,
)

program(
    "every_augmented_operator",
    """
def f(A, n):
    x = 1.0
    for i in range(n):
        x *= 1.5
        x -= i
        x /= 2
        x **= 2
        x //= 1
        x %= 7
        A[i] = x
""",
    A=numbers(5),
    n=5,
)

program(
    "arg_hidden_by_shape",
    """
def f(A, n):
    n = A.shape[0]
    for i in range(n):
        A[i] = n
""",
    A=numbers(5),
    n=3,
)

program(
    "arg_then_shape",
    """
def f(A, n):
    for i in range(n):
        A[i] = n
    n = A.shape[0]
    for i in range(n):
        A[i] += n
""",
    A=numbers(5),
    n=3,
)

program(
    "two_names_of_extent",
    """
def f(A, B):
    n = A.shape[0]
    m = len(A)
    k, l = B.shape
    l2 = B.shape[1]
    for i in range(m):
        for j in range(l2):
            A[i] += B[i % k, j] * n * l
""",
    A=numbers(5),
    B=numbers(2, 3),
)

program(
    "param_named_as_iterator",
    """
def f(A, i):
    for j in range(i):
        A[j] = i
    for i in range(3):
        A[i] += 1
""",
    A=numbers(9),
    i=4,
)

program(
    "scalar_named_as_iterator_later",
    """
def f(A, n):
    for i in range(n):
        A[i] = i
    for x in range(n):
        A[x] += x
    y = 2.0
    for i in range(n):
        A[i] *= y
""",
    A=numbers(9),
    n=4,
)

program(
    "alias_in_while_body",
    """
def f(A, n):
    for i in range(n):
        k = 2 * i
        for j in range(k, k + 2):
            k2 = j
            A[k2] = k
        A[k] += 1
        k = k + 1
        A[k] += 2
""",
    A=numbers(20),
    n=4,
)

program(
    "swap_aliases",
    """
def f(A, n):
    src = 0
    dst = 1
    for t in range(n):
        for i in range(5):
            A[dst, i] = A[src, i] + t
        src, dst = dst, src
""",
    A=numbers(2, 5),
    n=4,
)

program(
    "cond_alias_chain",
    """
def f(A, n):
    for i in range(n):
        a = i
        if i > 2:
            a = i - 1
            if i > 4:
                a = a - 1
        b = a + 1
        A[a] += b
""",
    A=numbers(20),
    n=8,
)

program(
    "nested_if_else_data",
    """
def f(A, B, n):
    for i in range(n):
        v = A[i]
        if v > 0:
            if v > 1:
                B[i] = 1
            else:
                B[i] = 2
        elif i > 3:
            B[i] = 3
        else:
            for j in range(i):
                B[j] += 1
""",
    A=numbers(8),
    B=numbers(8),
    n=8,
)

program(
    "data_loop_with_affine_inner",
    """
def f(A, c, n):
    for i in range(n):
        for r in range(c[i]):
            for j in range(i + 1):
                A[i, j] += 1
                t = A[i, j]
            A[0, 0] = t
""",
    A=numbers(8, 8),
    c=integers(3, 8),
    n=5,
)

program(
    "whole_counter",
    """
def f(A, c, n):
    k = 0
    for i in range(n):
        for r in range(c[i]):
            A[k] = i
            k += 1
    return k
""",
    A=numbers(40),
    c=integers(3, 8),
    n=8,
)

program(
    "float_floor_div",
    """
def f(A, n):
    for i in range(n):
        A[i] = (i / 3) // 0.5 + i % 2.5 - (-i) // 2
""",
    A=numbers(8),
    n=8,
)

program(
    "guard_pushdown_write",
    """
def f(A, s, n):
    if s > 0:
        for i in range(n):
            s = s - 1
            A[i] = s
    return s
""",
    A=numbers(8),
    s=2.5,
    n=4,
)

program(
    "guard_with_array",
    """
def f(A, B, n):
    if B[0] > 0:
        for i in range(n):
            A[i] = B[i]
        A[0] = 3
    elif n > 2:
        for i in range(n):
            A[i] = -B[i]
""",
    A=numbers(8),
    B=abs(numbers(8)),
    n=4,
)

program(
    "chained_compare_data",
    """
def f(A, n):
    for i in range(n):
        if 0 < A[i] < 1 and i < n - 1:
            A[i + 1] = A[i]
""",
    A=numbers(8),
    n=8,
)

program(
    "unary_not",
    """
def f(A, n):
    for i in range(n):
        if not i:
            A[i] = 1
        if not (i % 3) and i:
            A[i] = 2
""",
    A=numbers(8),
    n=8,
)

program(
    "return_in_cell_style",
    """
def f(A):
    s = 0
    for i in range(len(A)):
        s = s + 1
    return s, len(A), A[0] > 0
""",
    A=numbers(8),
)

program(
    "complex_scalar",
    """
def f(z):
    s = 0j
    for i in range(len(z)):
        s += z[i] * z[i].conjugate()
    return s.real, abs(s)
""",
    z=numbers(4) + 1j * numbers(4),
)

program(
    "div_by_param",
    """
def f(A, n, b):
    for i in range(n):
        A[i // b] += 1
        A[i % b] += 2
""",
    A=numbers(10),
    n=9,
    b=3,
)

program(
    "block_param",
    """
def f(A, n, b):
    nb = (n + b - 1) // b
    for ib in range(nb):
        for i in range(ib * b, min((ib + 1) * b, n)):
            A[i] += ib
""",
    A=numbers(10),
    n=9,
    b=4,
)

program(
    "abs_bound",
    """
def f(A, n):
    for i in range(-n, n + 1):
        for j in range(abs(i)):
            A[j] += i
""",
    A=numbers(10),
    n=5,
)

program(
    "loops_backwards",
    """
def f(A, n, m):
    for i in reversed(range(n)):
        A[i] = A[i + 1] + i
    for i in reversed(range(m, n)):
        A[i] = A[i - 1] + 2 * i
    for i in reversed(range(1, n, 3)):
        A[i] = A[i - 1] - i
    for i in reversed(range(n, 0, -2)):
        A[i] = A[i - 1] + 5 * i
""",
    A=numbers(12),
    n=10,
    m=4,
)

program(
    "loops_backwards_without_iterations",
    """
def f(A, n, m):
    for i in reversed(range(n, m)):
        A[i] = i
    for i in reversed(range(n, m, 4)):
        A[i] = i
""",
    A=numbers(6),
    n=3,
    m=2,
)

program(
    "loops_over_constants",
    """
def f(A, B):
    weights = [0.25, -0.5, 3]
    steps = (0, 2, 7)
    for i in range(len(A) - 7):
        for k in range(len(weights)):
            B[i] += weights[k] * A[i + steps[k]]
        for d in (3, 1, -1):
            B[i] -= A[i + d + 1]
        for d, w in ((0, 0.5), (5, -1)):
            if A[i + d] > 0:
                continue
            B[i] += w * A[i + d]
        B[i] += d + weights[-1]
""",
    A=numbers(15),
    B=numbers(8),
)

program(
    "tables_of_tables",
    """
def f(A, B):
    window = ((1.0, 2.0, 1.0), (2.0, 4.0, 2.0))
    for i in range(len(A) - 1):
        for j in range(len(A[0]) - 2):
            for u in range(2):
                for v in range(len(window[u])):
                    B[i, j] += window[u][v] * A[i + u, j + v]
            for row in window:
                B[i, j] += row[1]
""",
    A=numbers(4, 6),
    B=numbers(4, 6),
)

program(
    "lengths_of_rows",
    """
def f(A, B):
    for i in range(len(A)):
        for j in range(len(B[0])):
            for k in range(len(B[i, j])):
                B[i, j, k] = A[i] + len(B[0][0])
""",
    A=numbers(3),
    B=numbers(3, 2, 4),
)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_agrees_with_python(name: str) -> None:
    text, arguments = PROGRAMS[name]
    agree(text, **arguments)
