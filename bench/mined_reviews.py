"""Known defects that a review finds in real changes, what else it says, and what it says of changes without one.

    python -m bench.mined_reviews --half open|closed [--model URL] [--reports FOLDER] [--judged FILE]
        [--draw DEFECTS CLEAN] [--seed N] [--commits COMMIT …] [--clones FOLDER] [--show]

The data, `bench/data/mined_reviews.jsonl`, has one change a line. Of a change that brought a defect which people later
mended: the repository, the commit, the commit that mended it, the file and line of the defect in the state after the
change, and the defect in two sentences (the input or state, and what goes wrong). Of a clean change only the
repository and the commit: a year and more of history left every block of lines that it added as it was. All text is
our own; the code stays in the repositories. `bench/mine_reviews.py` found the candidates, and each was read: left out
are faults that the code had before the change, later wishes, other platforms' builds, and clean changes of which
something could be said. A repository is wholly in one half, by the hash of its name. None of them is named anywhere
else in bench/.

FOLDER of `--clones` (default /tmp/reviews_repos) holds bare clones as OWNER+NAME/repo. Each change is checked out with
what came before it and nothing that came after, and reviewed by `repopilot review SOURCE --diff COMMIT^..COMMIT`, with
the model at URL (an Ollama server) or with analysers alone. With `--model` its environment is built first, so that
tests can run. A report in `--reports` is not made again.

How it is counted, fixed before the model was played:
- `--judged` is a file of JSON lines {"commit", "path", "line", "verdict"}, written by a judge who reads the findings
  that are shown, after the reviews are over.
- `same`: the finding's sentence tells the known defect: the same fault of the code, by the same input or state or a
  special case of it, with the same wrong outcome, whatever its line. Lying near it is no hit. `near` counts findings
  that nobody judged within six lines of a known defect; they are wrong until judged.
- `right`: another defect that the change brings. It takes more than an opinion: a test of the review fails for what
  the finding says, and asks for what the message, the documentation, the state before or a later mend bears out; or
  the judge ran it. What the change means to do is no defect.
- `wrong`: everything else, also a second finding about the same fault, and what nobody judged.
- Recall is the known defects found of all; precision is `same` and `right` of all findings shown. The same with
  `right` counted as wrong is printed beside it.
- What a review folds away counts neither for it nor against it, and is counted apart.
- Nothing is said on a clean change where no finding is shown, of whatever kind.
- Of the findings that are `same` or `right` it is told how many are proved, shown, or opinions.

Nothing tells which changes have a defect before the review is over; `--show` then prints each with its findings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data" / "mined_reviews.jsonl"
CLONES = Path("/tmp/reviews_repos")
_NEAR = 6
_SHORT = 12
_BUILDING_S = 900


@dataclass(frozen=True, slots=True)
class Change:
    """A change; `path`, `line`, `defect` and `fix` are empty for a clean one."""

    repository: str
    half: str
    commit: str
    path: str = ""
    line: int = 0
    defect: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A change with its findings and the verdict on each; likewise on those that are folded away."""

    change: Change
    findings: Sequence[dict]
    verdicts: Sequence[str]
    folded: Sequence[str]
    seconds: float
    processor: float


def half_of(repository: str) -> str:
    """The half that a repository is in, by the hash of its name."""
    digest = hashlib.sha256(repository.encode()).hexdigest()
    return ("open", "closed")[int(digest, 16) % 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("open", "closed"), required=True)
    parser.add_argument("--model", default="", help="address of an Ollama server")
    parser.add_argument("--reports", type=Path, help="folder that keeps the reports")
    parser.add_argument("--judged", type=Path, help="JSON lines of a judge who read the findings")
    parser.add_argument("--draw", type=int, nargs=2, metavar=("DEFECTS", "CLEAN"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commits", nargs="*", default=[])
    parser.add_argument("--clones", type=Path, default=CLONES)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    changes = _chosen(arguments)
    judged = _judgements(arguments.judged)
    with tempfile.TemporaryDirectory() as folder:
        reports = arguments.reports or Path(folder) / "reports"
        reports.mkdir(parents=True, exist_ok=True)
        reviewed = []
        for change in changes:
            report = reports / f"{change.commit}.json"
            if not report.exists():
                report.write_text(json.dumps(_report(change, arguments, Path(folder))))
            document = json.loads(report.read_text("utf-8"))
            found = _judged(change, document, judged)
            print(
                f"{change.repository} {change.commit}: {len(found.findings)} findings, {found.seconds:.0f} s",
                flush=True,
            )
            reviewed.append(found)
    if arguments.show:
        _show(reviewed)
    _summary(reviewed)


def _chosen(arguments: argparse.Namespace) -> list[Change]:
    rows = [Change(**json.loads(line)) for line in arguments.data.read_text("utf-8").splitlines()]
    changes = [row for row in rows if row.half == arguments.half]
    if arguments.commits:
        return [change for change in changes if change.commit.startswith(tuple(arguments.commits))]
    drawing = random.Random(arguments.seed)
    drawing.shuffle(changes)
    if not arguments.draw:
        return changes
    defects, clean = arguments.draw
    drawn = [change for change in changes if change.defect][:defects]
    drawn += [change for change in changes if not change.defect][:clean]
    drawing.shuffle(drawn)
    return drawn


def _judgements(path: Path | None) -> dict[tuple[str, str, int], str]:
    """What a judge said of findings, by commit (its first characters), path and line."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path else []
    return {(row["commit"][:_SHORT], row["path"], row["line"]): row["verdict"] for row in rows}


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def _checkout(change: Change, clones: Path, folder: Path) -> Path:
    """The change's state as a folder whose history ends there."""
    root = folder / change.commit / change.repository.rpartition("/")[2]
    root.parent.mkdir()
    bare = clones / change.repository.replace("/", "+") / "repo"
    _git(clones, "clone", "-q", "--shared", "--no-checkout", str(bare), str(root))
    _git(root, "checkout", "-q", "--detach", change.commit)
    _git(root, "remote", "remove", "origin")
    names = _git(root, "for-each-ref", "--format=%(refname)").split()
    for name in names:
        _git(root, "update-ref", "-d", name)
    return root


def _report(change: Change, arguments: argparse.Namespace, folder: Path) -> dict:
    """The review of a change, with its seconds."""
    root = _checkout(change, arguments.clones, folder)
    settings = {
        "REPOPILOT_HOME": str(folder / "home"),
        "REPOPILOT_OLLAMA_URL": arguments.model,
        "REPOPILOT_LLM_URL": "",
        "REPOPILOT_EMBEDDED": "false",
    }
    environment = {**os.environ, **settings}
    program = [sys.executable, "-m", "repopilot"]
    if arguments.model:
        building = [*program, "environment", str(root), "--build"]
        built = subprocess.run(building, env=environment, capture_output=True, check=False, timeout=_BUILDING_S)
        if built.returncode:
            print("no environment:", built.stderr.decode("utf-8", "replace").strip()[-300:], file=sys.stderr)
    began = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    reviewing = [*program, "review", str(root), "--diff", f"{change.commit}^..{change.commit}", "--json"]
    done = subprocess.run(reviewing, env=environment, capture_output=True, check=False)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not done.stdout:
        sys.exit(f"{change.repository} {change.commit}: {done.stderr.decode('utf-8', 'replace')[-2000:]}")
    return {**json.loads(done.stdout), "seconds": seconds, "processor": processor}


def _judged(change: Change, report: dict, judged: dict[tuple[str, str, int], str]) -> Reviewed:
    def verdict(finding: dict) -> str:
        place = (change.commit[:_SHORT], finding["path"], finding["line"])
        near = finding["path"] == change.path and abs(finding["line"] - change.line) <= _NEAR
        return judged.get(place, "near" if change.defect and near else "wrong")

    shown, folded = (list(map(verdict, report[key])) for key in ("findings", "folded"))
    return Reviewed(change, report["findings"], shown, folded, report["seconds"], report["processor"])


def _show(reviewed: Sequence[Reviewed]) -> None:
    for each in reviewed:
        change = each.change
        place = f" {change.path}:{change.line}" if change.defect else ""
        print(f"\n== {change.repository} {change.commit[:_SHORT]}{place}\n{change.defect or 'clean'}")
        for finding, verdict in zip(each.findings, each.verdicts, strict=True):
            print(f"  {verdict}: {finding['path']}:{finding['line']} {finding['rule']}: {finding['message']}")


def _summary(reviewed: Sequence[Reviewed]) -> None:
    defects = [each for each in reviewed if each.change.defect]
    clean = [each for each in reviewed if not each.change.defect]
    verdicts = Counter(verdict for each in reviewed for verdict in each.verdicts)
    found = sum("same" in each.verdicts for each in defects)
    said = sum(verdicts.values())
    rules = Counter(f["rule"] if f["source"] == "model" else "by tools" for each in reviewed for f in each.findings)
    quiet = sum(not each.findings for each in clean)
    print(f"\nknown defects found: {found} of {len(defects)}")
    print(f"findings: {said} ({_kinds(rules)}); {verdicts['right']} other right, {said - _right(verdicts)} wrong")
    print(f"of those that are right: {_kinds(_rules_of_right(reviewed))}; near by line, not judged: {verdicts['near']}")
    folded = Counter(verdict for each in reviewed for verdict in each.folded)
    only = sum("same" in each.folded and "same" not in each.verdicts for each in defects)
    print(
        f"folded away: {sum(folded.values())}; {folded['right']} other right, {folded['wrong']} wrong; "
        f"known defects found only there: {only}"
    )
    print(f"clean changes: {len(clean)}, nothing said on {quiet}; {sum(len(c.findings) for c in clean)} findings")
    print(_scores(found / max(1, len(defects)), _right(verdicts) / max(1, said)))
    print("only known defects right:", _scores(found / max(1, len(defects)), verdicts["same"] / max(1, said)))
    if reviewed:
        times = [each.seconds for each in reviewed]
        worked = statistics.median(each.processor for each in reviewed)
        print(
            f"seconds a review: median {statistics.median(times):.1f}, most {max(times):.1f}; of processor {worked:.1f}"
        )


def _right(verdicts: Counter[str]) -> int:
    return verdicts["same"] + verdicts["right"]


def _kinds(rules: Counter[str]) -> str:
    return ", ".join(f"{count} {rule}" for rule, count in rules.most_common()) or "none"


def _rules_of_right(reviewed: Sequence[Reviewed]) -> Counter[str]:
    """How the findings that are right came about."""
    pairs = ((f, v) for each in reviewed for f, v in zip(each.findings, each.verdicts, strict=True))
    return Counter(finding["rule"] for finding, verdict in pairs if verdict in ("same", "right"))


def _scores(recall: float, precision: float) -> str:
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return f"recall {recall:.2f}, precision {precision:.2f}, F1 {f1:.2f}"


if __name__ == "__main__":
    sys.exit(main())
