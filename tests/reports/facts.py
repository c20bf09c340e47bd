"""Results of a report with some facts changed, to see that its page shows them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.reports.report_results import ReportResults


def with_facts(found: ReportResults, **facts: Any) -> ReportResults:  # noqa: ANN401 - facts of any kind
    """Return the results with other facts, in whichever part each of them is."""
    parts = {}
    for name in ("published", "risk", "utility"):
        part = getattr(found, name)
        own = {field.name: facts.pop(field.name) for field in fields(part) if field.name in facts}
        parts[name] = replace(part, **own)
    return replace(found, **parts, **facts)
