"""Engines that run SQL text and give Arrow tables; they do not know what the SQL means."""
