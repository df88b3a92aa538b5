"""What a build did, in figures: shown to the user, stored with the generation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repopilot import i18n
from repopilot.index.storage import layout
from repopilot.types import Skip

REMOVED = "repo.skip.gone"
"""The key of the reason why a file was skipped that was removed while it was being read."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The figures of a build.

    `seconds` are by phase; `reused` counts the `files` taken from the previous index; `notes` say what is degraded,
    `remarks` what else the user should see once: the redactions.
    """

    files: int = 0
    chunks: int = 0
    lines: int = 0
    reused: int = 0
    skipped: tuple[Skip, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def write_report(folder: Path, report: BuildReport) -> None:
    """Store the report with its generation; messages keep their keys. Raises OSError."""
    fields = {field.name: getattr(report, field.name) for field in dataclasses.fields(report)}
    fields["notes"] = [i18n.to_json(note) for note in report.notes]
    fields["remarks"] = [i18n.to_json(remark) for remark in report.remarks]
    fields["skipped"] = [{"path": skip.path, "reason": i18n.to_json(skip.reason)} for skip in report.skipped]
    layout.write_json(folder / layout.REPORT, fields)


def read_report(folder: Path) -> BuildReport:
    """The report of a generation; messages have their keys again. Raises ValueError when it is missing or broken."""
    found = layout.read_json(folder / layout.REPORT)
    if not isinstance(found, dict):
        raise ValueError("the index has no report")
    skipped = tuple(Skip(skip["path"], i18n.from_json(skip["reason"])) for skip in found.pop("skipped"))
    notes = tuple(i18n.from_json(note) for note in found.pop("notes"))
    remarks = tuple(i18n.from_json(remark) for remark in found.pop("remarks"))
    return BuildReport(**found, skipped=skipped, notes=notes, remarks=remarks)
