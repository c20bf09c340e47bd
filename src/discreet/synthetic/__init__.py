"""A synthetic census: synthetic persons in households, with a code for every topic of the EU census programme."""

from discreet.synthetic.marginal_check import check
from discreet.synthetic.synthetic_census import SyntheticFile, synth

__all__ = ["SyntheticFile", "check", "synth"]
