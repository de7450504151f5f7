"""Front end: Python source or a function becomes a `Scop`."""

from polyviz.frontend.extract import extract, may_be_none
from polyviz.frontend.given import ABSENT, Real, Truths

__all__ = ["ABSENT", "Real", "Truths", "extract", "may_be_none"]
