"""Charts: data, specification and rendering."""
