"""The paper again: every number and figure of Bach (2020) from our own formulas, programme and lists of areas."""
