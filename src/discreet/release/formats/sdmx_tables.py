"""SDMX-CSV 2.0.0 and SDMX-ML 2.1 data, with the structures that both refer to."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from discreet.release.formats.cell_lines import CellLines
from discreet.release.formats.csv_tables import TextColumn, file_names, write_csv
from discreet.release.formats.sdmx_structure import (
    AGENCY,
    HEAD,
    STRUCTURES,
    VERSION,
    attribute_ids,
    check_identifiers,
    code_ids,
    component_ids,
    prepared,
    structures,
    table_id,
)
from discreet.release.formats.table_format import TABLE_FORMATS, TableFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from discreet.release.formats.published_table import PublishedTable
    from discreet.release.formats.table_format import ConversionOptions


class SdmxTables(TableFormat):
    """A data file per table, and a file with the structures of all tables."""

    def check(self, tables: Sequence[PublishedTable], options: ConversionOptions) -> None:  # noqa: ARG002 - required by the base class
        """Refuse names and codes that are not valid SDMX identifiers."""
        check_identifiers(tables)

    def write(
        self, tables: Sequence[PublishedTable], out: Path, options: ConversionOptions, done: Callable[[], None]
    ) -> None:
        """Write the structures, then a file per table."""
        with (out / STRUCTURES).open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in structures(tables, options.language))
        names = file_names(tables)
        for table in tables:
            self.write_data(table, out, names[table.id], options)
            done()

    @abstractmethod
    def write_data(self, table: PublishedTable, out: Path, stem: str, options: ConversionOptions) -> None:
        """Write the data of one table."""


@TABLE_FORMATS.register("sdmx-csv")
class SdmxCsv(SdmxTables):
    """SDMX-CSV 2.0.0; if labels are requested, a colon and the label follow every code (`labels=both`)."""

    name = "sdmx-csv"
    summary = "SDMX-CSV 2.0.0, with its structures in SDMX-ML"

    def write_data(self, table: PublishedTable, out: Path, stem: str, options: ConversionOptions) -> None:
        """Write one line per cell."""
        columns = []
        for place, (name, variable) in enumerate(zip(component_ids(table), table.variables, strict=True)):
            ids = code_ids(variable)
            if options.labels:
                both = tuple(f"{code}: {label}" for code, label in zip(ids, variable.labels, strict=True))
                columns.append(TextColumn(f"{name}: {variable.label}", place, both))
            else:
                columns.append(TextColumn(name, place, ids))
        constants = {
            "STRUCTURE": "dataflow",
            "STRUCTURE_ID": f"{AGENCY}:{table_id(table)}({VERSION})",
            "ACTION": "I",
        }
        write_csv(table, out / f"{stem}.csv", columns, constants, attribute_ids(table))


@TABLE_FORMATS.register("sdmx-ml")
class SdmxMl(SdmxTables):
    """SDMX-ML 2.1, structure-specific data with all dimensions at the observation."""

    name = "sdmx-ml"
    summary = "SDMX-ML 2.1 data and structures"

    def write_data(self, table: PublishedTable, out: Path, stem: str, options: ConversionOptions) -> None:  # noqa: ARG002 - required by the base class
        """Write one observation per cell."""
        name = table_id(table)
        head = HEAD.format(root="StructureSpecificData", id=name, prepared=prepared(), agency=AGENCY)
        dimensions = [
            [f" {component}={quoteattr(code)}" for code in code_ids(variable)]
            for component, variable in zip(component_ids(table), table.variables, strict=True)
        ]
        ids = attribute_ids(table)
        # Append the name of the first measure to the last dimension.
        dimensions[-1] = [f'{text} {ids[table.measures[0]]}="' for text in dimensions[-1]]
        ends = [*(f'" {ids[measure]}="' for measure in table.measures[1:]), '"/>\n']
        lines = CellLines(dimensions, list(zip(table.measures, ends, strict=True)), "<Obs")
        begin = f"{head}{_structure(name)}</mes:Header>\n{_data_set(name)}\n"
        lines.write(table, out / f"{stem}.xml", begin, "</mes:DataSet>\n</mes:StructureSpecificData>\n")


def _structure(name: str) -> str:
    space = f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={AGENCY}:{name}({VERSION}):ObsLevelDim:AllDimensions"
    ref = f'<Ref agencyID="{AGENCY}" id="{name}" version="{VERSION}" class="Dataflow"/>'
    return (
        f'<mes:Structure structureID="{name}" namespace="{space}" dimensionAtObservation="AllDimensions">'
        f"<com:StructureUsage>{ref}</com:StructureUsage></mes:Structure>\n"
    )


def _data_set(name: str) -> str:
    space = f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={AGENCY}:{name}({VERSION}):ObsLevelDim:AllDimensions"
    return (
        f'<mes:DataSet xmlns:ns1="{space}" dat:structureRef="{name}" xsi:type="ns1:DataSetType" '
        'dat:dataScope="DataStructure" dat:action="Information">'
    )
