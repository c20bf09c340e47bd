"""Noise for counts from 64-bit words, one word per cell, whatever the words come from."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.distribution import WORDS
from discreet.noise.formats.ptable_toml import OwnToml
from discreet.noise.ptable import PTable
from discreet.noise.truncated import Truncated

if TYPE_CHECKING:
    from discreet.arrays import Ints, Words
    from discreet.noise.distribution import Noise


def noisy(noise: PTable | Noise, counts: Ints, words: Words, *, zeros: bool) -> Ints:
    """Return counts plus noise.

    Args:
        noise: a p-table, or a law, which is then the same for all counts.
        counts: true counts.
        words: uniform on 64 bits.
        zeros: whether a law gives empty cells noise too; a p-table says so itself.
    """
    if isinstance(noise, PTable):
        return counts + noise.draw_words(counts, words)
    drawn = noise.draw(words, WORDS)
    return counts + (drawn if zeros else np.where(counts > 0, drawn, 0))


def perturbs_zeros(noise: PTable | Noise, asked: bool) -> bool:  # noqa: FBT001 - one flag, named where it is given
    """Say whether empty cells get noise: as the p-table says, or, of a law, as was asked."""
    if isinstance(noise, PTable):
        if asked and not noise.perturbs_zeros:
            raise ParameterError(
                "This p-table leaves zeros as they are. Make it with perturb_zeros, or leave perturb_zeros out.",
                parameter="perturb_zeros",
            )
        return noise.perturbs_zeros
    return asked


def described_law(noise: PTable | Noise) -> dict[str, Any]:
    """Return the law by name and parameters for a record; a p-table that was not solved here is written out whole."""
    if isinstance(noise, Truncated):
        return {"law": noise.name, "parameters": {"of": described_law(noise.law), "bound": noise.bound}}
    if not isinstance(noise, PTable):
        parameters: dict[str, Any] = asdict(noise)  # type: ignore[call-overload]  # every law is a dataclass
        return {"law": noise.name, "parameters": parameters}
    if noise.settings:
        return {"law": "max-entropy", "parameters": asdict(noise.settings)}
    return {"law": "p-table", "parameters": {}, "ptable_text": OwnToml().write(noise, Path("record.json"))}
