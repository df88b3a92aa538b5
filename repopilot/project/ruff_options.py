"""Reads which rules a repository has chosen in its configuration of ruff. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repopilot.code.formats.data_formats import table, toml_tables
from repopilot.project.declaration_parts import texts

CONFIGS = (".ruff.toml", "ruff.toml", "pyproject.toml")
"""Where ruff looks, the first that configures it wins."""
_BY_DEFAULT = ("E4", "E7", "E9", "F")


@dataclass(frozen=True, slots=True)
class ChosenRules:
    """The prefixes of the rules that a repository selects, and of those that it ignores."""

    selected: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def __contains__(self, rule: object) -> bool:
        return isinstance(rule, str) and _names(self.selected, rule) and not _names(self.ignored, rule)


def chosen_rules(configs: Mapping[str, str]) -> ChosenRules:
    """The rules that are chosen.

    Args:
        configs: the texts of the files of CONFIGS that exist, by name.

    Returns:
        The rules of the first file that configures ruff; none where no file does.
    """
    for name in CONFIGS:
        data = toml_tables(configs.get(name, ""))
        options = table(table(data.get("tool")).get("ruff")) if name == "pyproject.toml" else data
        if options:
            lint = {**options, **table(options.get("lint"))}
            selected = texts(lint.get("select")) if "select" in lint else _BY_DEFAULT
            ignored = (*texts(lint.get("ignore")), *texts(lint.get("extend-ignore")))
            return ChosenRules((*selected, *texts(lint.get("extend-select"))), ignored)
    return ChosenRules()


def _names(prefixes: tuple[str, ...], rule: str) -> bool:
    return "ALL" in prefixes or rule.startswith(prefixes)
