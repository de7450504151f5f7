"""Front end: Python source or a function becomes a `Scop`."""

from polyviz.frontend.extract import extract, may_be_none
from polyviz.frontend.given import ABSENT, Real, Truths, Value

__all__ = ["ABSENT", "Real", "Truths", "Value", "extract", "may_be_none"]
