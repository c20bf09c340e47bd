"""p-table files in the formats that offices use, read and written exactly on the grid of the file."""
