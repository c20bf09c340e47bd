"""Programs that take what an attacker sees and return what she learns; the truth is read only to score them."""
