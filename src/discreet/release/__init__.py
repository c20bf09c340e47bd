"""The release: its record, its tables and its files."""
