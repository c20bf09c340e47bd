"""The protection pipeline: check, read, count, add noise and publish; repeat, verify and estimate releases."""
