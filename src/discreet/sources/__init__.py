"""Data sources: files, databases and data frames with records."""
