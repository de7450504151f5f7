"""Tuning: searching around the model's defaults on real data, and remembering what was found."""
