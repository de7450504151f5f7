"""The immutable values that travel from phase to phase."""
