"""Countries of birth and citizenship: heavy-tailed, matched by name, and never the country itself."""

from __future__ import annotations

import numpy as np

from discreet.programme.eu2021.census import census, countries
from discreet.synthetic.origin import PARTS, Nations
from tests.each import each
from tests.synthetic.sample import ACCEPT, REJECT, off_by_30_percent, p_value

EVERY_NOISE = np.arange(1 << 16, dtype=np.uint16)
TOPICS = census("LU").topics
BIRTH = TOPICS["POB"].levels[-1].codes or ()
CITIZENS = TOPICS["COC"].levels[-1].codes or ()


def nations(country: str = "LU", seed: int = 1) -> Nations:
    return Nations(country, TOPICS["POB"], TOPICS["COC"], seed)


def label(topic: str, code: str) -> str:
    tree = TOPICS[topic].tree
    assert tree
    return next(category.labels["en"] for category in tree.categories if category.code == code)


@each("country", countries())
def test_nobody_is_born_abroad_in_the_country_itself(country: str) -> None:
    drawn = {label("POB", BIRTH[place]) for place in set(nations(country).draw(EVERY_NOISE).tolist())}
    name = countries()[country]["name"].replace("Czechia", "Czech Republic")
    assert name not in drawn
    assert "born in reporting country" not in drawn
    assert len(drawn) > 200


def test_a_few_countries_are_common() -> None:
    counts = np.sort(np.bincount(nations().draw(EVERY_NOISE), minlength=len(BIRTH)))[::-1]
    assert counts[:10].sum() > 0.35 * counts.sum()
    assert (counts[counts > 0] < counts.sum() / 1000).sum() > 50


def test_parts_of_the_world_have_their_shares() -> None:
    drawn = [BIRTH[place] for place in nations().draw(EVERY_NOISE).tolist()]
    seen = [sum(code == part or code.startswith(f"{part}.") for code in drawn) for part in PARTS]
    assert p_value(seen, list(PARTS.values())) > ACCEPT
    assert p_value(seen, off_by_30_percent(list(PARTS.values()))) < REJECT


def test_which_countries_are_common_depends_on_country_and_seed() -> None:
    common = {
        int(np.bincount(nations(*name).draw(EVERY_NOISE)).argmax())
        for name in (("LU", 1), ("LU", 2), ("AT", 1), ("FR", 5))
    }
    assert len(common) > 1


def test_citizenship_goes_by_name() -> None:
    found = nations().citizenship
    for place, code in enumerate(BIRTH):
        citizenship = CITIZENS[found[place]]
        if label("POB", code) != label("COC", citizenship):
            # A territory without a citizenship of its own, or what is no country.
            assert code in {"1", "3"} or label("COC", citizenship).startswith("Other in")
            assert code.rpartition(".")[0] == citizenship.rpartition(".")[0]
