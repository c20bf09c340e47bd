"""Reproduction of Bach (2020): its numbers and figures from formulas, the table programme and lists of areas.

The paper is F. Bach, "Differential privacy and noisy confidentiality concepts for European population statistics".
"""
