"""Pages that tell what was published and what it reveals: results in words and pictures, nothing computed here."""
