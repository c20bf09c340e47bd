"""Margin equations of what is published, and their least-squares solvers."""
