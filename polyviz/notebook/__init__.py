"""Notebook: magics, completion and progress in IPython."""
