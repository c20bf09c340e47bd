"""The cells of a release laid out in arrays: published and true ones, every statistic with its margins."""
