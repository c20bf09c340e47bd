"""Effect of noise on data users: published compared with true counts, for the curator."""
