"""Hits of the review's own rules in public code: `python -m bench.review_hits FOLDER… [--rule ID] [--samples N]`.

Each FOLDER is a checked-out repository. Its Python files, or with `--others` those of the other languages that have
rules, are read in an order drawn by its name, tests, migrations, examples, generated, minified and vendored code left
out, up to 60,000 lines. Printed is, for each rule, in how many repositories it has hits and how many.
`--samples N` prints up to N hits of each rule with the lines around them, taken from the repositories in turn, to be
judged by reading: that judgement is in `docs/review-rules.md`.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot.agents.review.rules.registry import RULES
from repopilot.code.file_version import Code, code
from repopilot.code.generated import generated_by_convention, generated_name, probably_generated
from repopilot.code.languages import is_doc_path, is_example_path, is_test_path, language_of

MOST_LINES = 60_000
_LONGEST_FILE = 8_000
_AROUND = 3
_LONGEST_LINE = 2000
_VENDORED = re.compile(
    r"(^|/)(vendors?|node_modules|third_party|dist|deps|plugins?|libs?|ace|codemirror[^/]*|external)/.*\.js$|"
    r"(^|/)(vendor|node_modules|third_party|deps)/|(^|/)(jquery|knockout|backbone|underscore|bootstrap)[^/]*\.js$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding of a rule in a repository; `excerpt` are the lines around it, numbered."""

    repository: str
    path: str
    line: int
    rule: str
    message: str
    excerpt: str


def source_files(folder: Path, languages: Collection[str]) -> Iterator[Code]:
    """The files of a repository in some languages that count, up to `MOST_LINES` lines in all."""
    files = [
        p for p in sorted(folder.rglob("*")) if language_of(p.name) in languages and p.is_file() and not p.is_symlink()
    ]
    files = [p for p in files if not is_test_path(str(p.relative_to(folder))) and "migrations" not in p.parts]
    random.Random(folder.name).shuffle(files)
    read = 0
    for file in files:
        path = file.relative_to(folder).as_posix()
        text = file.read_text("utf-8", errors="replace").replace("\r\n", "\n")
        lines = text.count("\n")
        language = language_of(path) or ""
        if language != "python" and (_is_left_out(path, text) or max(map(len, text.split("\n"))) > _LONGEST_LINE):
            continue
        if lines <= _LONGEST_FILE and read + lines <= MOST_LINES:
            read += lines
            yield code(path, text, language)


def _is_left_out(path: str, text: str) -> bool:
    generated = generated_name(path) or generated_by_convention(text) or probably_generated(text)
    return bool(generated or is_example_path(path) or is_doc_path(path) or _VENDORED.search(path))


def hits_in(folder: Path, languages: Collection[str]) -> Iterator[Hit]:
    """Every hit in a repository of every rule for some languages."""
    for file in source_files(folder, languages):
        for rule in (rule for rule in RULES if file.language in rule.languages):
            for finding in rule.findings(file):
                excerpt = _lines(file, finding.line)
                yield Hit(folder.name, file.path, finding.line, rule.id, str(finding.message), excerpt)


def _lines(file: Code, line: int) -> str:
    text = file.safe.split("\n")
    around = range(max(1, line - _AROUND), min(len(text), line + _AROUND) + 1)
    return "\n".join(f"{n:>6} {text[n - 1][:120]}" for n in around)


def sample(hits: Sequence[Hit], count: int) -> list[Hit]:
    """Up to `count` hits, one repository after the other, so that none outweighs the others."""
    by_repository: dict[str, list[Hit]] = defaultdict(list)
    for hit in random.Random(0).sample(hits, len(hits)):
        by_repository[hit.repository].append(hit)
    turns = max(map(len, by_repository.values()), default=0)
    return [found[turn] for turn in range(turns) for found in by_repository.values() if turn < len(found)][:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rule", action="append", help="only this rule; may be repeated")
    parser.add_argument("--others", action="store_true", help="the other languages instead of Python")
    parser.add_argument("--samples", type=int, default=0)
    arguments = parser.parse_args()
    others = {language for rule in RULES for language in rule.languages} - {"python", "yaml"}
    languages = sorted(others) if arguments.others else ["python"]
    found: dict[str, list[Hit]] = {rule.id: [] for rule in RULES if {*languages} & {*rule.languages}}
    for folder in arguments.folders:
        for hit in hits_in(folder, languages):
            found[hit.rule].append(hit)
    for rule, hits in found.items():
        if arguments.rule and rule not in arguments.rule:
            continue
        print(f"{rule:24} {len({h.repository for h in hits}):4} repositories {len(hits):6} hits")
        for hit in sample(hits, arguments.samples):
            print(f"  {hit.repository}/{hit.path}:{hit.line} {hit.message}\n{hit.excerpt}")


if __name__ == "__main__":
    main()
