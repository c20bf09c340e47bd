"""What a release is: its record, and later its tables and files."""
