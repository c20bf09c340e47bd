"""From coded records to the count and the key of every cell of every statistic, each computed once."""
