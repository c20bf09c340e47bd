"""What is published: topics, levels, breakdowns, tables, and the statistics they share."""
