"""Engines that run SQL text and return Arrow tables; they do not interpret the SQL."""
