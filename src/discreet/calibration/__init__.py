"""Calibration of the noise: designs from constraints, comparisons of mechanisms, and trial releases of data."""
