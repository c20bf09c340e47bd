"""The SDMX-ML 2.1 structures of a release: a code list per variable, and a data structure and dataflow per table.

SDMX identifiers allow fewer characters than names and codes of a programme. A full stop becomes `_`, and an annotation
of type CODE contains the original code. Other characters are refused.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from discreet.programme.model import VALUE
from discreet.release.formats.table_format import cannot_contain, check_variables, first_repeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discreet.release.formats.published_table import PublishedTable, PublishedVariable

STRUCTURES = "structures.xml"
AGENCY, VERSION = "DISCREET", "1.0"
CONCEPTS = "CONCEPTS"
OBS_VALUE = "OBS_VALUE"
CODE, COMPONENT = re.compile(r"[A-Za-z0-9_$-][A-Za-z0-9_@$-]*"), re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""Valid SDMX identifiers of a code or structure, and of a dimension; no leading @, which spreadsheets evaluate."""
NO_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""
RESERVED = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
"""Columns of SDMX-CSV."""
FLAGS = {
    "SPECIAL_VALUE": {"NA": "not applicable", "NAV": "not available"},
    "FLAG": {"C": "confidential", "U": "unreliable", "R": "revised", "I": "see information attached"},
}
"""Attributes of the census transmission (Regulation (EU) 2017/712). Noise alone sets none of them."""

HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<mes:{root} xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
 xmlns:str="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure"
 xmlns:com="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common"
 xmlns:dat="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/data/structurespecific"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<mes:Header>
<mes:ID>{id}</mes:ID>
<mes:Test>false</mes:Test>
<mes:Prepared>{prepared}</mes:Prepared>
<mes:Sender id="{agency}"/>
"""


def sdmx_id(text: str, allowed: re.Pattern[str], what: str) -> str:
    """Return the SDMX identifier for a text, or refuse the text.

    >>> sdmx_id("1.1", CODE, "the code 1.1"), sdmx_id("GEO.L", COMPONENT, "the variable GEO.L")
    ('1_1', 'GEO_L')
    """
    found = text.replace(".", "_")
    if not allowed.fullmatch(found):
        raise cannot_contain("SDMX", what, "Identifiers may contain only letters A to Z, digits, - and _. Rename it.")
    return found


def component_ids(table: PublishedTable) -> tuple[str, ...]:
    """Return the identifiers of the dimensions of a table."""
    return tuple(sdmx_id(each.name, COMPONENT, f"a variable named {each.name!r}") for each in table.variables)


def code_ids(variable: PublishedVariable) -> tuple[str, ...]:
    """Return the identifiers of the codes of a variable."""
    return tuple(sdmx_id(each, CODE, f"the code {each!r} of {variable.name}") for each in variable.codes)


def table_id(table: PublishedTable) -> str:
    """Return the identifier of the dataflow of a table."""
    return sdmx_id(f"T_{table.id}", CODE, f"a table named {table.id!r}")


def attribute_ids(table: PublishedTable) -> dict[str, str]:
    """Return the identifiers of the measures of a table: one is the observation value, the others are attributes."""
    first = VALUE if VALUE in table.measures else table.measures[0]
    return {name: OBS_VALUE if name == first else name.upper() for name in table.measures}


def check_identifiers(tables: Sequence[PublishedTable]) -> None:
    """Refuse names and codes without a valid and unique identifier."""
    check_variables("SDMX", tables)
    if twice := first_repeated(table_id(table) for table in tables):
        raise cannot_contain("SDMX", f"two tables named {twice}", "Rename one of them.")
    for table in tables:
        reserved = [*attribute_ids(table).values(), *FLAGS, *RESERVED]
        if twice := first_repeated([*component_ids(table), *reserved]):
            raise cannot_contain("SDMX", f"two components named {twice} in table {table.id}", "Rename the variable.")
        for text in (table.title, *(each for v in table.variables for each in (v.label, *v.labels))):
            if found := NO_XML.search(text):
                raise cannot_contain("SDMX", f"the character {found[0]!r} of {text!r}", "Change the label.")
    topics: dict[str, str] = {}
    for name, variable in (
        (n, v) for table in tables for n, v in zip(component_ids(table), table.variables, strict=True)
    ):
        if topics.setdefault(name, variable.topic) != variable.topic:
            what = f"{name} for two variables, of {topics[name]} and of {variable.topic}"
            raise cannot_contain("SDMX", what, "Rename one of them.")
    for variable in _by_name(tables).values():
        if twice := first_repeated(code_ids(variable)):
            raise cannot_contain("SDMX", f"two codes {twice} of {variable.name}", "Rename one of them.")


def structures(tables: Sequence[PublishedTable], language: str) -> Iterable[str]:
    """Yield the lines of the structure message."""
    variables = _by_name(tables)
    measures = sorted({name for table in tables for name in attribute_ids(table).values()})
    yield HEAD.format(root="Structure", id="STRUCTURES", prepared=prepared(), agency=AGENCY)
    yield "</mes:Header>\n<mes:Structures>\n<str:Dataflows>"
    for table in tables:
        yield _named("Dataflow", f"T_{table.id}".replace(".", "_"), table.title, language, " ".join(table.notes))
        yield f"<str:Structure>{_ref('DSD_' + table_id(table), 'DataStructure', 'datastructure')}</str:Structure>"
        yield "</str:Dataflow>"
    yield "</str:Dataflows>\n<str:Codelists>"
    for name, variable in variables.items():
        yield _named("Codelist", f"CL_{name}", variable.label, language)
        yield from _codes(variable, language)
        yield "</str:Codelist>"
    for name, values in FLAGS.items():
        yield _named("Codelist", f"CL_{name}", name.replace("_", " ").lower(), "en")
        yield from (f'<str:Code id="{code}">{_name(text, "en")}</str:Code>' for code, text in values.items())
        yield "</str:Codelist>"
    yield "</str:Codelists>\n<str:Concepts>"
    yield _named("ConceptScheme", CONCEPTS, "Concepts", "en")
    for name, label in {**{n: v.label for n, v in variables.items()}, **{n: n for n in (*measures, *FLAGS)}}.items():
        yield f"<str:Concept id={quoteattr(name)}>{_name(label, language)}</str:Concept>"
    yield "</str:ConceptScheme>\n</str:Concepts>\n<str:DataStructures>"
    for table in tables:
        yield from _data_structure(table, language)
    yield "</str:DataStructures>\n</mes:Structures>\n</mes:Structure>"


def prepared() -> str:
    """Return the current time for the header of a message."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _by_name(tables: Sequence[PublishedTable]) -> dict[str, PublishedVariable]:
    """Return the variables by identifier, each with its codes from all tables."""
    found: dict[str, PublishedVariable] = {}
    # Start with the variable with the most codes, because it has all parents.
    for variable in sorted((v for table in tables for v in table.variables), key=lambda v: -len(v.codes)):
        name = variable.name.replace(".", "_")
        known = found.setdefault(name, variable)
        more = [place for place, code in enumerate(variable.codes) if code not in set(known.codes)]
        found[name] = replace(
            known,
            codes=(*known.codes, *(variable.codes[place] for place in more)),
            labels=(*known.labels, *(variable.labels[place] for place in more)),
            parents=(*known.parents, *(variable.parents[place] for place in more)),
        )
    return found


def _codes(variable: PublishedVariable, language: str) -> Iterable[str]:
    ids = dict(zip(variable.codes, code_ids(variable), strict=True))
    for code, label, parent in zip(variable.codes, variable.labels, variable.parents, strict=True):
        original = (
            f"<com:Annotations><com:Annotation><com:AnnotationTitle>{escape(code)}</com:AnnotationTitle>"
            "<com:AnnotationType>CODE</com:AnnotationType></com:Annotation></com:Annotations>"
        )
        above = f'<str:Parent><Ref id="{ids[parent]}"/></str:Parent>' if parent else ""
        changed = original if ids[code] != code else ""
        yield f'<str:Code id="{ids[code]}">{changed}{_name(label, language)}{above}</str:Code>'


def _data_structure(table: PublishedTable, language: str) -> Iterable[str]:
    yield _named("DataStructure", f"DSD_{table_id(table)}", table.title, language)
    yield '<str:DataStructureComponents>\n<str:DimensionList id="DimensionDescriptor">'
    for place, name in enumerate(component_ids(table), start=1):
        yield f'<str:Dimension id="{name}" position="{place}">{_concept(name)}{_coded(name)}</str:Dimension>'
    yield '</str:DimensionList>\n<str:AttributeList id="AttributeDescriptor">'
    numbers = {name: "" for name in attribute_ids(table).values() if name != OBS_VALUE}
    for name, coded in {**numbers, **{name: _coded(name) for name in FLAGS}}.items():
        yield (
            f'<str:Attribute id="{name}" assignmentStatus="Conditional">{_concept(name)}{coded}'
            f'<str:AttributeRelationship><str:PrimaryMeasure><Ref id="{OBS_VALUE}"/></str:PrimaryMeasure>'
            "</str:AttributeRelationship></str:Attribute>"
        )
    yield '</str:AttributeList>\n<str:MeasureList id="MeasureDescriptor">'
    yield f'<str:PrimaryMeasure id="{OBS_VALUE}">{_concept(OBS_VALUE)}</str:PrimaryMeasure>'
    yield "</str:MeasureList>\n</str:DataStructureComponents>\n</str:DataStructure>"


def _named(kind: str, name: str, label: str, language: str, about: str = "") -> str:
    """Return the opening tag of a maintainable structure, with its name and description."""
    described = f'<com:Description xml:lang="en">{escape(about)}</com:Description>' if about else ""
    return f'<str:{kind} id="{name}" agencyID="{AGENCY}" version="{VERSION}">{_name(label, language)}{described}'


def _name(label: str, language: str) -> str:
    return f"<com:Name xml:lang={quoteattr(language)}>{escape(label)}</com:Name>"


def _ref(name: str, kind: str, package: str) -> str:
    return f'<Ref id="{name}" version="{VERSION}" agencyID="{AGENCY}" class="{kind}" package="{package}"/>'


def _coded(name: str) -> str:
    listed = _ref(f"CL_{name}", "Codelist", "codelist")
    return f"<str:LocalRepresentation><str:Enumeration>{listed}</str:Enumeration></str:LocalRepresentation>"


def _concept(name: str) -> str:
    parent = f'maintainableParentID="{CONCEPTS}" maintainableParentVersion="{VERSION}" agencyID="{AGENCY}"'
    ref = f'<Ref {parent} id="{name}" class="Concept" package="conceptscheme"/>'
    return f"<str:ConceptIdentity>{ref}</str:ConceptIdentity>"
