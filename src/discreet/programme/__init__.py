"""Table programmes: topics, levels, breakdowns, tables, and the statistics that tables share."""
