"""Mapping: a `Schedule` is bound to a target and becomes a `Plan`."""
