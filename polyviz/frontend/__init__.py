"""Front end: Python source or a function becomes a `Scop`."""

from polyviz.frontend.extract import extract

__all__ = ["extract"]
