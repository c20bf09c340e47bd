"""Tabulation: the count and the key of every cell of every statistic from coded records, each computed once."""
