"""Risk measures: what an attacker could learn from a release, as numbers with their assumptions."""
