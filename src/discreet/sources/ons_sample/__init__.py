"""Sample data: 10,000 real census records and a table programme; see README.md for source and licence."""
