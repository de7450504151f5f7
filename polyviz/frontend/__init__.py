"""Front end: Python source or a function becomes a `Scop`."""

from polyviz.frontend.extract import extract, may_be_none
from polyviz.frontend.given import ABSENT, Truths

__all__ = ["ABSENT", "Truths", "extract", "may_be_none"]
