"""`import discreet` is quick: what is heavy or seldom needed is loaded where it is used."""

import subprocess
import sys

import pytest

HEAVY = {
    "altair", "scipy.optimize", "typer", "rich", "yaml", "pyspark", "duckdb", "pyarrow", "pysdmx",
    "jinja2", "vl_convert",
}  # fmt: skip


def loaded_by(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    return set(done.stdout.split())


def test_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_by("from discreet import *")
    assert "discreet.reports.release_report" in loaded
    assert loaded & HEAVY == set()


def test_a_name_loads_its_own_home_alone() -> None:
    assert {name for name in loaded_by("import discreet") if name.startswith("discreet")} == {"discreet"}
    loaded = loaded_by("from discreet import Programme")
    assert "discreet.programme.model" in loaded
    assert "discreet.mechanisms" not in loaded


def test_a_command_loads_itself_alone() -> None:
    loaded = loaded_by("from discreet.cli.main import app")
    assert {name for name in loaded if name.startswith("discreet.cli.")} == {
        "discreet.cli.help", "discreet.cli.output", "discreet.cli.main",
    }  # fmt: skip
    assert "numpy" not in loaded


@pytest.mark.slow
def test_charts_are_drawn_without_matplotlib() -> None:
    loaded = loaded_by("from discreet.charts.rendering import png\nfrom tests.charts.samples import BARS\npng(BARS)")
    assert "vl_convert" in loaded
    assert "matplotlib" not in loaded


def test_a_heavy_module_would_be_seen() -> None:
    assert "yaml" in loaded_by("from discreet import *; import yaml")
