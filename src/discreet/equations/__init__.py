"""Margin equations between published counts, and their least-squares solvers."""
