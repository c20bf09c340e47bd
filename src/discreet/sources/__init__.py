"""Records of units: files they come from, and the codes in their columns."""
