"""Functions that a readable Python text brings along where CPython has none that means what numba computes."""

from __future__ import annotations

PYTHON_HELPERS = {
    "whole_power": '''\
def whole_power(base, exponent):
    """A whole number in 64 bits: a power wraps around, one with a negative exponent is cut off."""
    if exponent >= 0:
        return np.int64(base) ** int(exponent)
    if base == 0:
        return np.int64(-(2**63))
    return np.int64(base) ** (int(exponent) % 2) if abs(base) == 1 else np.int64(0)
''',
    "gamma_function": '''\
def gamma_function(x):
    """``math.gamma``, with infinity and NaN where it raises."""
    try:
        return np.float64(math.gamma(x))
    except ValueError:
        return np.float64(math.copysign(math.inf, x) if x == 0 else math.nan)
    except OverflowError:
        return np.float64(math.copysign(math.inf, x))
''',
    "log_gamma_function": '''\
def log_gamma_function(x):
    """``math.lgamma``, with infinity where it raises."""
    try:
        return np.float64(math.lgamma(x))
    except (ValueError, OverflowError):
        return np.float64(math.inf)
''',
}
"""Their texts, by name; each uses ``math`` and ``np`` only."""
