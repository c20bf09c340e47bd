"""A programme from an SDMX data structure definition: dimensions become topics, code lists their categories.

The module reads structure messages of SDMX-ML 2.1 and 3.0 that contain one definition with its code lists. The library
pysdmx finds the dimensions and their code lists. It ignores hierarchies of codes and keeps names in one language only,
so that this module reads parents and names from the XML. The schema of 3.0 rejects parents such as `_T` and `01`, which
are in use; messages are therefore not validated against it.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError, ProgrammeFileError
from discreet.limits import bounded_xml, read_named
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Programme, Table, Topic, levels_by_depth

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pysdmx.model import Codelist, Component, DataStructureDefinition, Hierarchy

    Lists = Mapping[str, tuple[Category, ...]]
    Labels = Mapping[str, Mapping[str, str]]

TOTALS = {"_T", "TOTAL"}
"""Codes that always denote the total."""
TOTALS_IF_NAMED_SO = {"T", "TOT"}
"""Codes that denote the total if their name does too: T is also a section of economic activities."""
TOTAL_NAMES = ("total", "totaal", "insgesamt")
NOT_OF_UNITS = {"FREQ", "UNIT", "UNIT_MEASURE", "UNIT_MULT", "MEASURE", "INDICATOR", "ADJUSTMENT"}
"""Dimensions that rarely describe the counted units."""
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
WHOLE = "Download the definition with all referenced structures (references=descendants)."


def programme_from_dsd(path: str | Path) -> Programme:
    """Return the programme of an SDMX-ML file: one table with every dimension that has a code list.

    A code for the total is not a category; the codes below it become the top level. Dimensions without a code list,
    such as the time, are excluded; the notes of the programme list them.
    """
    path = Path(path)
    root = _root(path)
    _check_in_full(path, root)
    definition = _definition(path, root)
    lists, labels = _code_lists(root), _concept_labels(root)
    if not lists:
        raise ProgrammeFileError.at(path, None, "contains no code lists.", WHOLE)
    codes = _codes(path, definition, lists)
    try:
        trees = {name: _tree(name, found) for name, found in codes.items()}
        topics = {name: _topic(tree, labels.get(name, {})) for name, tree in trees.items() if tree}
    except ProgrammeError as error:
        raise ProgrammeFileError.at(path, None, str(error), "") from error
    if not topics:
        raise ProgrammeFileError.at(path, None, "has no dimension with a code list.", WHOLE)
    table = Table(definition.id, tuple(Breakdown(name, name, topic.levels) for name, topic in topics.items()))
    notes = _notes(definition, topics, codes, list(labels))
    return Programme(definition.name or definition.id, topics, (table,), notes)


def _codes(path: Path, definition: DataStructureDefinition, lists: Lists) -> Lists:
    """Return the codes of every dimension that has a code list."""
    found = {}
    for dimension in definition.components.dimensions:
        code_list = _enumeration(path, dimension)
        if code_list is not None:
            name = code_list.short_urn.partition("=")[2]
            if not lists.get(name):
                what = f"dimension {dimension.id} has the code list {name}, but the file contains no codes of it."
                raise ProgrammeFileError.at(path, None, what, WHOLE)
            found[dimension.id] = lists[name]
    return found


# --- The file ---


def _root(path: Path) -> ET.Element:
    try:
        data = read_named(path)
    except OSError as error:
        raise ProgrammeFileError.at(path, None, f"cannot be read: {error.strerror}.", "Check the path.") from error
    if b"<!DOCTYPE" in data:
        raise ProgrammeFileError.at(path, None, "has a document type, which SDMX does not use.", "Remove it.")
    try:
        root = bounded_xml(data, path)
    except ET.ParseError as error:
        what, line = f"is not XML: {error}.", error.position[0]
        raise ProgrammeFileError.at(path, line, what, "Download the file again, or correct the line.") from error
    if _kind(root) != "Structure":
        what = f"is not an SDMX structure message but {_kind(root)!r}."
        raise ProgrammeFileError.at(path, None, what, "Give a data structure definition in SDMX-ML 2.1 or 3.0.")
    return root


def _check_in_full(path: Path, root: ET.Element) -> None:
    for element in _all(root, "Codelist"):
        if next(_all(element, "CodelistExtension"), None) is not None:
            what = f"code list {element.get('id')} extends another one, which is not supported."
            raise ProgrammeFileError.at(path, None, what, "Download the code list with all its codes.")


def _definition(path: Path, root: ET.Element) -> DataStructureDefinition:
    try:
        from pysdmx.io import read_sdmx
        from pysdmx.model import DataStructureDefinition
    except ImportError as error:
        what = "needs the package pysdmx to be read."
        raise ProgrammeFileError.at(path, None, what, "Install it: pip install 'discreet[sdmx]'.") from error
    # Serialising the message again adds the declaration, the prefix and UTF-8 by which pysdmx recognises it.
    text = ET.tostring(root, encoding="utf-8", xml_declaration=True).decode()
    try:
        message = read_sdmx(text, validate=False)
    except Exception as error:  # a malformed message can raise any exception in the library
        raise _malformed(path, error) from error
    found = [item for item in message.structures or () if isinstance(item, DataStructureDefinition)]
    if len(found) != 1:
        names = f" ({', '.join(item.id for item in found)})" if found else ""
        what = f"contains {len(found) or 'no'} data structure definition{'s' if len(found) > 1 else ''}{names}."
        raise ProgrammeFileError.at(path, None, what, "Give a file with one definition and its code lists.")
    return found[0]


def _malformed(path: Path, error: Exception) -> ProgrammeFileError:
    missing = re.search(r"(?:Codelist|ValueList|ConceptScheme)=([^\s']+\))", str(error))
    if missing:
        return ProgrammeFileError.at(path, None, f"refers to {missing[1]}, which is not in the file.", WHOLE)
    what = f"cannot be read as an SDMX structure message: {type(error).__name__} {str(error)[:200]}."
    return ProgrammeFileError.at(path, None, what, "Check it against the SDMX schema, or download it again.")


def _enumeration(path: Path, dimension: Component) -> Codelist | Hierarchy | None:
    """Return the code list of a dimension: its own, or that of its concept unless the dimension has a local format."""
    from pysdmx.model import Concept

    if dimension.local_codes is not None or dimension.local_dtype is not None:
        return dimension.local_codes
    if isinstance(dimension.concept, Concept):
        return dimension.concept.codes
    concept = str(dimension.concept).partition("=")[2]
    what = f"dimension {dimension.id} takes its codes from the concept {concept}, which is not in the file."
    raise ProgrammeFileError.at(path, None, what, WHOLE)


# --- The XML ---


def _kind(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _all(element: ET.Element, kind: str) -> Iterator[ET.Element]:
    return element.iterfind(f".//{{*}}{kind}")


def _names(element: ET.Element) -> dict[str, str]:
    """Return the names of an element by language; the default is English, as in the schema."""
    return {name.get(LANGUAGE, "en"): (name.text or "").strip() for name in element.iterfind("{*}Name")}


def _code_lists(root: ET.Element) -> Lists:
    """Return the codes of every list by `AGENCY:ID(VERSION)`, with parents and names."""
    found = {}
    for element in _all(root, "Codelist"):
        name = f"{element.get('agencyID')}:{element.get('id')}({element.get('version', '1.0')})"
        codes = element.iterfind("{*}Code")
        found[name] = tuple(Category(code.get("id", ""), _parent(code), _names(code)) for code in codes)
    return found


def _parent(code: ET.Element) -> str:
    """Return the parent code: a reference in 2.1, text in 3.0."""
    parent = code.find("{*}Parent")
    if parent is None:
        return ""
    reference = next(_all(parent, "Ref"), None)
    return reference.get("id", "") if reference is not None else (parent.text or "").strip()


def _concept_labels(root: ET.Element) -> Labels:
    """Return the names of the concept of every dimension, also of dimensions that the library ignores."""
    concepts = {concept.get("id", ""): _names(concept) for concept in _all(root, "Concept")}
    found = {}
    for dimension in (element for listed in _all(root, "DimensionList") for element in listed):
        identity = dimension.find("{*}ConceptIdentity")
        if identity is not None:
            reference = next(_all(identity, "Ref"), None)
            text = "".join(identity.itertext()).strip()
            concept = reference.get("id", "") if reference is not None else text.rpartition(").")[2]
            found[dimension.get("id", concept)] = concepts.get(concept, {})
    return found


# --- The programme ---


def _total_codes(codes: tuple[Category, ...]) -> tuple[str, ...]:
    return tuple(category.code for category in codes if not category.parent and _is_total(category))


def _is_total(category: Category) -> bool:
    code = category.code.upper()
    named = any(name.lower().startswith(TOTAL_NAMES) for name in category.labels.values())
    return code in TOTALS or (code in TOTALS_IF_NAMED_SO and named)


def _tree(name: str, codes: tuple[Category, ...]) -> CategoryTree | None:
    """Return the categories without the total; None if the total is the only code."""
    totals = _total_codes(codes)
    kept = tuple(
        Category(category.code, "" if category.parent in totals else category.parent, category.labels)
        for category in codes
        if category.code not in totals
    )
    return CategoryTree(name, kept) if kept or not totals else None


def _topic(tree: CategoryTree, labels: Mapping[str, str]) -> Topic:
    return Topic(tree.topic, levels_by_depth(tree.topic, tree.cuts), tree, labels)


def _notes(
    definition: DataStructureDefinition,
    topics: Mapping[str, Topic],
    codes: Lists,
    dimensions: list[str],
) -> tuple[str, ...]:
    left_out = [name for name in dimensions if name not in topics]
    dropped = [f"{code} ({name})" for name in topics for code in _total_codes(codes[name])]
    not_of_units = [name for name in topics if name in NOT_OF_UNITS]
    notes = {
        f"From the data structure definition {definition.short_urn.partition('=')[2]}.": True,
        f"Dimensions excluded because they have no code list with categories: {', '.join(left_out)}.": left_out,
        f"Codes interpreted as the total, not as a category: {', '.join(dropped)}.": dropped,
        f"Dimensions used as breakdowns, although they rarely describe units: {', '.join(not_of_units)}.": not_of_units,
        "Codes on one level are assumed to be mutually exclusive; code lists do not state this.": True,
    }
    return tuple(note for note, holds in notes.items() if holds)
