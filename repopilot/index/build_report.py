"""What a build did, in figures: shown to the user, kept with the generation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from repopilot.index import layout
from repopilot.types import Skip

FILE = "report.json"


@dataclass(frozen=True, slots=True)
class BuildReport:
    """`seconds` by phase of the build; `reused` of the `files` came from the index before; `notes` are degradations."""

    files: int = 0
    chunks: int = 0
    lines: int = 0
    reused: int = 0
    skipped: tuple[Skip, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def write_report(folder: Path, report: BuildReport) -> None:
    """Keep the report with its generation. Raises OSError."""
    layout.write_json(folder / FILE, asdict(report))


def read_report(folder: Path) -> BuildReport:
    """The report of a generation. Raises ValueError when it is missing or broken."""
    found = layout.read_json(folder / FILE)
    if not isinstance(found, dict):
        raise ValueError("the index has no report")
    skipped = tuple(Skip(**skip) for skip in found.pop("skipped"))
    return BuildReport(**{**found, "notes": tuple(found["notes"])}, skipped=skipped)
