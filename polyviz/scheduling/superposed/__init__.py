"""Superposed schedules: one search for the blocks, one for the threads, and how the two are put together."""
