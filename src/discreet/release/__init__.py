"""Releases: their records, tables and files."""
