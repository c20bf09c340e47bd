"""The pipeline of a release: check, read, count, add noise, publish; repeat, verify and estimate it."""
