"""Analysis: exact dependences, reductions, footprints and the legality of any schedule."""
