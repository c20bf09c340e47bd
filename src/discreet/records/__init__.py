"""Records of persons: the codes in their columns, their keys, and the secret behind the keys."""
