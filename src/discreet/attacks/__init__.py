"""Attacks: estimates of true counts from an attacker's view of a release; the truth serves to score them."""
