"""A synthetic census: made-up persons in households, with a code for every topic of the EU census programme."""

from discreet.microdata.synthetic.check import check
from discreet.microdata.synthetic.write import Synthetic, synth

__all__ = ["Synthetic", "check", "synth"]
