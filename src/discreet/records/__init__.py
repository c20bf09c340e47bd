"""Microdata records: the codes in their columns, their keys, and the secret for the keys."""
