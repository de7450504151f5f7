"""Scheduling: schedulers, one per file, that turn a `Scop` and its dependences into a `Schedule`."""
