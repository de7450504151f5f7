"""Transformations: moves, one per file, that reshape a `Schedule`."""
