"""Reports on a release: what was published and what it reveals, as sentences, charts and one HTML page."""
