"""Front end: Python source or a function becomes a `Scop`."""

from polyviz.frontend.absent import ABSENT
from polyviz.frontend.extract import extract, may_be_none

__all__ = ["ABSENT", "extract", "may_be_none"]
