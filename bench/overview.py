"""The overview against what people wrote by hand about public repositories: see data/overview/*.json.

    python -m bench.overview TRUTH_DIR CORPORA_DIR [--half open|closed] [--misses]

TRUTH_DIR (data/overview; data/overview_more, whose halves are its own) holds NAME.json, CORPORA_DIR/NAME the repository
at the commit that it names. Measured without a model:

- purpose: the share of repositories whose purpose holds one of the accepted phrases.
- entries: the share of expected entry points that are given; wrong: of the given ones, those that are neither expected
  nor allowed.
- parts: the share of components of which one is found whose files overlap by half (intersection over union).
- edges: of the expected uses between found components, the share that is drawn; false: of the drawn ones, those that
  are known not to exist.
- commands: the share of purposes (run, test, build, lint) whose command is one of the accepted ones.
- symbols: the share of the ten key symbols that are shown.
- flows: the share of ways of which half of the steps, and at least two, stand in one shown flow in order.
- reading: the share of the files to begin with that are proposed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from bench.instant_index import instant_index_of
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.overview_values import Component, Overview
from repopilot.agents.overview.render import overview_json
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.settings import Settings

_OVERLAP = 0.5
_KEY_SYMBOLS = 10
_READ = 5
"""Files of the reading order that count."""
_PURPOSES = ("run", "test", "build", "lint")
Scores = dict[str, float | None]
"""By measure; None where the repository has nothing of the kind."""


def main() -> None:
    arguments = _arguments()
    rows = {}
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home))
        for file in sorted(arguments.truth.glob("*.json")):
            truth = json.loads(file.read_text("utf-8"))
            if arguments.half in (None, truth["half"]):
                overview = overview_at(arguments.corpora / file.stem, settings)
                rows[file.stem] = scores_of(truth, overview)
                if arguments.misses:
                    _print_misses(file.stem, truth, overview)
    _print_table(rows)


def overview_at(root: Path, settings: Settings) -> Overview:
    return overview_of(instant_index_of(open_source(parse_source(str(root)), settings), settings))


def scores_of(truth: Mapping[str, Any], overview: Overview) -> Scores:
    """Every measure of one repository, see the module.

    Args:
        truth: what was written by hand.
        overview: what was computed.
    """
    shown = overview_json(overview)
    found = found_components(truth["components"], overview.components)
    given = [(e["path"], e["symbol"]) for e in shown["entry_points"]]
    uses = {(use.source, use.target) for use in overview.uses}
    drawn = [pair for pair in _pairs(truth["edges"], found) if pair in uses]
    false = [pair for pair in _pairs(truth["no_edges"], found) if pair in uses]
    return {
        "purpose": _share(
            [any(p.casefold() in overview.purpose.casefold() for p in truth["purpose"])] if truth["purpose"] else ()
        ),
        "entries": _share(is_given(e, given) for e in truth["entry_points"]),
        "wrong": _share(not is_allowed(truth, path) for path, _ in given if truth["entry_points"]),
        "parts": _share(c["name"] in found for c in truth["components"]),
        "edges": _share(pair in uses for pair in _pairs(truth["edges"], found)),
        "false": len(false) / (len(drawn) + len(false)) if drawn or false else None,
        "commands": _share(
            is_accepted(shown["commands"].get(p, ""), truth["commands"][p]) for p in _PURPOSES if p in truth["commands"]
        ),
        "symbols": _symbol_share(truth["key_symbols"], shown),
        "flows": _share(flow_is_shown(flow, shown["flows"]) for flow in truth["flows"]),
        "reading": _share(path in shown["reading"] for path in truth["reading"][:_READ]),
    }


def found_components(truth: Sequence[Mapping[str, Any]], components: Sequence[Component]) -> dict[str, int]:
    """The number of the component that each of the expected ones is found as.

    Args:
        truth: the expected ones, each with `name` and `paths` (patterns).
        components: the computed ones.
    """
    files = {path for component in components for path in component.files}
    found = {}
    for expected in truth:
        own = {path for path in files if any(fnmatch(path, pattern) for pattern in expected["paths"])}
        own = {path for path in own if not _belongs_deeper(path, expected["paths"])}
        overlaps = [len(own & set(c.files)) / len(own | set(c.files)) if own else 0.0 for c in components]
        best = max(range(len(components)), key=overlaps.__getitem__, default=None)
        if best is not None and overlaps[best] >= _OVERLAP:
            found[expected["name"]] = best
    return found


def _belongs_deeper(path: str, patterns: Iterable[str]) -> bool:
    """Whether only patterns of files of one folder (`a/*.ts`) match, and the file stands further down."""
    matching = [pattern for pattern in patterns if fnmatch(path, pattern)]
    return all("*." in pattern and pattern.count("/") < path.count("/") for pattern in matching)


def is_given(entry: Mapping[str, str], given: Iterable[tuple[str, str]]) -> bool:
    symbol = entry.get("symbol")
    return any(path == entry["path"] and (symbol is None or symbol == _last(name)) for path, name in given)


def is_allowed(truth: Mapping[str, Any], path: str) -> bool:
    expected = [e["path"] for e in truth["entry_points"]]
    return any(fnmatch(path, pattern) for pattern in (*expected, *truth["also_entry_points"]))


def is_accepted(command: str, accepted: Iterable[str]) -> bool:
    """Whether a command begins with an accepted one, options left out."""
    words = [word for word in command.split() if not word.startswith("-")]
    plain = [[word for word in one.split() if not word.startswith("-")] for one in accepted]
    return any(words[: len(one)] == one for one in plain)


def flow_is_shown(flow: Sequence[str], shown: Iterable[Mapping[str, Any]]) -> bool:
    needed = max(2, -(-len(flow) // 2))
    return any(_in_order([_last(step) for step in flow], [_last(s) for s in one["path"]]) >= needed for one in shown)


def _in_order(steps: Sequence[str], path: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    lengths = [[0] * (len(path) + 1) for _ in range(len(steps) + 1)]
    for row, step in enumerate(steps):
        for column, name in enumerate(path):
            longer = max(lengths[row][column + 1], lengths[row + 1][column])
            lengths[row + 1][column + 1] = lengths[row][column] + 1 if step == name else longer
    return lengths[-1][-1]


def _symbols_shown(key_symbols: Iterable[str], shown: Mapping[str, Any]) -> list[bool]:
    names = [symbol for component in shown["components"] for symbol in component["symbols"]]
    names += [term["name"] for term in shown["terms"]]
    names += [entry["symbol"] for entry in shown["entry_points"]]
    known = {part for name in names for part in (name, _last(name))}
    return [symbol in known or _last(symbol) in known for symbol in key_symbols]


def _symbol_share(key_symbols: Sequence[str], shown: Mapping[str, Any]) -> float | None:
    if not key_symbols:
        return None
    return min(1.0, sum(_symbols_shown(key_symbols, shown)) / min(_KEY_SYMBOLS, len(key_symbols)))


def _last(name: str) -> str:
    return name.replace("::", ".").rpartition(".")[2].lstrip("#")


def _pairs(edges: Iterable[Sequence[str]], found: Mapping[str, int]) -> list[tuple[int, int]]:
    pairs = [(found[a], found[b]) for a, b in edges if a in found and b in found]
    return [(a, b) for a, b in pairs if a != b]


def _share(hits: Iterable[bool]) -> float | None:
    rows = list(hits)
    return sum(rows) / len(rows) if rows else None


def _print_misses(name: str, truth: Mapping[str, Any], overview: Overview) -> None:
    shown = overview_json(overview)
    found = found_components(truth["components"], overview.components)
    given = [(e["path"], e["symbol"]) for e in shown["entry_points"]]
    uses = {(use.source, use.target) for use in overview.uses}
    missing = {
        "purpose": overview.purpose,
        "entries": [e for e in truth["entry_points"] if not is_given(e, given)],
        "wrong": [path for path, _ in given if not is_allowed(truth, path)],
        "parts": [c["name"] for c in truth["components"] if c["name"] not in found],
        "edges": [
            e for e in truth["edges"] if e[0] in found and e[1] in found and (found[e[0]], found[e[1]]) not in uses
        ],
        "false": [
            e for e in truth["no_edges"] if e[0] in found and e[1] in found and (found[e[0]], found[e[1]]) in uses
        ],
        "commands": {p: shown["commands"].get(p, "") for p in _PURPOSES if p in truth["commands"]},
        "symbols": [
            s
            for s, hit in zip(truth["key_symbols"], _symbols_shown(truth["key_symbols"], shown), strict=True)
            if not hit
        ],
        "flows": [flow for flow in truth["flows"] if not flow_is_shown(flow, shown["flows"])],
        "given components": {c["name"]: c["paths"] for c in shown["components"]},
        "given flows": [flow["path"] for flow in shown["flows"]],
        "given reading": shown["reading"],
    }
    print(f"== {name}")
    for what, rows in missing.items():
        print(f"{what}: {json.dumps(rows)}")


def _print_table(rows: Mapping[str, Scores]) -> None:
    measures = list(next(iter(rows.values())))
    print(f"{'':18s}" + "".join(f"{measure:>10s}" for measure in measures))
    for name, scores in rows.items():
        print(f"{name:18s}" + "".join(f"{_cell(scores[measure]):>10s}" for measure in measures))
    means = [[s for scores in rows.values() if (s := scores[measure]) is not None] for measure in measures]
    print(f"{'mean':18s}" + "".join(f"{_cell(statistics.mean(values) if values else None):>10s}" for values in means))


def _cell(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--half", choices=("open", "closed"))
    parser.add_argument("--misses", action="store_true", help="also print what is missing, and what is given instead")
    return parser.parse_args()


if __name__ == "__main__":
    main()
