"""What isl writes, as a person would write it."""

from __future__ import annotations

import re

_ROUNDED = re.compile(r"floor\(\((\w+)\)/")


def plain_floor(text: str) -> str:
    """``text`` without the brackets that isl puts around a single name or number below a division.

    >>> plain_floor("floor((i)/4) + floor((t + i)/4)")
    'floor(i/4) + floor((t + i)/4)'
    """
    return _ROUNDED.sub(r"floor(\1/", text)
