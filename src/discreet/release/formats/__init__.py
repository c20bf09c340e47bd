"""Writers of published tables, one format per file."""
