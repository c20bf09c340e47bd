"""Output mechanisms: add noise to counts and return the published values."""
