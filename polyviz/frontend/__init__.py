"""Front end: Python source or a function becomes a `Scop`."""

from polyviz.frontend.extract import extract, may_be_none
from polyviz.frontend.given import ABSENT, Truths, Value

__all__ = ["ABSENT", "Truths", "Value", "extract", "may_be_none"]
