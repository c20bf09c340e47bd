"""Output mechanisms: what is published, and which noise goes where."""
