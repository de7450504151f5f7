"""Front end: Python source or a function becomes a `Scop`."""
