"""Pictures that are drawn once: to draw one takes longer than the rest of most tests that show it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import vl_convert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DRAWN: dict[tuple[str, str], Any] = {}


@contextmanager
def drawn_once() -> Iterator[None]:
    """Draw what is drawn from the same specification once per process; that drawings repeat is tested in this room."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("vegalite_to_svg", "vegalite_to_png"):
            patch.setattr(vl_convert, name, _once(name, getattr(vl_convert, name)))
        yield


@contextmanager
def all_alike() -> Iterator[None]:
    """Draw every picture as the same small one, for tests of which pictures there are."""
    small = {"mark": "point", "data": {"values": []}}
    with drawn_once(), pytest.MonkeyPatch.context() as patch:
        for name in ("vegalite_to_svg", "vegalite_to_png"):
            picture = getattr(vl_convert, name)(small)
            patch.setattr(vl_convert, name, lambda *_, picture=picture, **__: picture)
        yield


def _once(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    def drawn(spec: dict[str, Any], **how: Any) -> Any:  # noqa: ANN401 - as in vl_convert
        key = name, json.dumps([spec, how])
        if key not in DRAWN:
            DRAWN[key] = draw(spec, **how)
        return DRAWN[key]

    return drawn
