"""The command line: ask, format, show."""
