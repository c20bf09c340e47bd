"""A synthetic census: made-up persons in households, with a code for every topic of the EU census programme."""

from discreet.synthetic.check import check
from discreet.synthetic.write import Synthetic, synth

__all__ = ["Synthetic", "check", "synth"]
