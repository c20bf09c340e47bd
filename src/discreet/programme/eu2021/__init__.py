"""The 2021 EU census: programme, breakdowns and geography of 31 countries, as package data."""
