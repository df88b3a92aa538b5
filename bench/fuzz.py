"""Fuzz: everything that reads hostile text, fed with real texts that were changed. Nothing may crash or hang.

    python -m bench.fuzz [TARGET …] [--inputs N] [--seed S] [--first N] [--trees DIR …] [--seconds S]
                         [--memory MB] [--out DIR]
    python -m bench.fuzz TARGET --show NUMBER [--seed S] [--trees DIR …]

Inputs begin as files of this repository and of those in --trees (folders or bare clones). Each target runs in a process
of its own with limits on processor time an input and on memory. A fault is an exception that isn't one of ours, a
signal, or a limit that was reached. It is printed with the number of its input, which `--show` writes to standard
output: an input follows from target, seed, number and trees alone. `--first` goes on with a run that was ended. The
exit status is 1 where there are faults.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench.fuzz_inputs import input_of
from bench.fuzz_targets import TARGETS, corpus, prepare
from repopilot.errors import RepoPilotError
from repopilot.repo.read import read_bytes
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.settings import Settings
from repopilot.types import Snapshot

ROOT = Path(__file__).resolve().parents[1]
_NUMBER = struct.Struct("<q")
_STALLED_S = 120.0
"""Seconds without a word after which a process is ended that uses no processor time either."""
_LARGEST_SEED = 200_000
_MOST_FILES = 400
"""Files of a tree: the most useful first."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is fed to one target, and the limits."""

    target: str
    seed: int
    first: int
    last: int
    trees: tuple[str, ...]
    seconds: float
    memory_mb: int


@dataclass(slots=True)
class Faults:
    """The faults found: for each kind of them the numbers of the inputs."""

    numbers: dict[str, list[int]] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, number: int, detail: str = "") -> None:
        """Add a fault."""
        if kind not in self.numbers:
            print(f"    {kind}: input {number}\n{detail}", flush=True)
        self.numbers.setdefault(kind, []).append(number)
        self.details.setdefault(kind, detail)


def fuzz(run: Run) -> Faults:
    """Feed a target. A process that dies is started again behind the input that it died of."""
    faults = Faults()
    number = run.first
    with TemporaryDirectory(prefix="repopilot-fuzz-") as folder:  # also of processes that were killed
        while number < run.last:
            ended_at, how = _one_process(run, number, faults, folder)
            if how:
                faults.add(how, ended_at)
            number = ended_at + 1
    return faults


def _one_process(run: Run, first: int, faults: Faults, folder: str) -> tuple[int, str]:
    """Run a worker process to its end; the last input that it began, and why it ended early, '' if it didn't."""
    command = [
        sys.executable,
        "-m",
        "bench.fuzz",
        run.target,
        "--worker",
        "--seed",
        str(run.seed),
        "--first",
        str(first),
    ]
    command += ["--inputs", str(run.last - first), "--seconds", str(run.seconds), "--memory", str(run.memory_mb)]
    command += ["--trees", *run.trees] if run.trees else []
    current = first
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": folder}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment) as worker:
        assert worker.stdout is not None
        try:
            for current, fault in _messages(worker.stdout.fileno()):
                if fault:
                    faults.add(fault["kind"], current, fault["detail"])
        except TimeoutError:
            worker.kill()
            return current, "stalled"
    status = worker.returncode
    if status == 0:
        return run.last, ""
    if status == -signal.SIGPROF:
        return current, _too_long(run)
    return current, f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _too_long(run: Run) -> str:
    return f"took more than {run.seconds:g} s"


def _messages(descriptor: int) -> Iterator[tuple[int, dict[str, str]]]:
    """What a worker writes: the number of each input before it is read, and behind a negative one a fault."""
    buffer = b""
    number = 0
    while True:
        if not select.select([descriptor], [], [], _STALLED_S)[0]:
            raise TimeoutError
        read = os.read(descriptor, 1 << 16)
        if not read:
            return
        buffer += read
        while len(buffer) >= _NUMBER.size:
            (found,) = _NUMBER.unpack_from(buffer)
            size = -found if found < 0 else 0
            if len(buffer) < _NUMBER.size + size:
                break
            body, buffer = buffer[_NUMBER.size : _NUMBER.size + size], buffer[_NUMBER.size + size :]
            number = found if found >= 0 else number
            yield number, json.loads(body) if size else {}


def work(run: Run) -> None:
    """Feed the inputs in this process. Messages go to standard output, all else to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    seeds = seeds_of(run)
    prepare(run.target)
    limit = run.memory_mb << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in range(run.first, run.last):
        os.write(out, _NUMBER.pack(number))
        # Processor time, since a busy machine is no fault; and a signal, since native code can hang too.
        signal.setitimer(signal.ITIMER_PROF, run.seconds)
        started = time.thread_time()
        fault = _fed(run, number, seeds)
        signal.setitimer(signal.ITIMER_PROF, 0)
        # The signal comes with the clock's next tick; what ended before it is measured, of this thread: while a timer
        # runs, the time of the process is as coarse.
        if not fault and time.thread_time() - started > run.seconds:
            fault = {"kind": _too_long(run), "detail": ""}
        if fault:
            body = json.dumps(fault).encode()
            os.write(out, _NUMBER.pack(-len(body)) + body)


def _fed(run: Run, number: int, seeds: Sequence[tuple[str, bytes]]) -> dict[str, str]:
    """The fault that an input shows, {} for none."""
    path, data = made(run, number, seeds)
    try:
        TARGETS[run.target].read(path, data, Random(number))
    except RepoPilotError:
        return {}
    except BaseException as error:
        where = [frame for frame in traceback.extract_tb(error.__traceback__) if "/repopilot/" in frame.filename]
        place = f"{Path(where[-1].filename).relative_to(ROOT)}:{where[-1].name}" if where else "bench"
        detail = "".join(traceback.format_exception(error, limit=-4))[-1_500:]
        return {"kind": f"{type(error).__name__} in {place}", "detail": detail.encode("utf-8", "replace").decode()}
    return {}


def made(run: Run, number: int, seeds: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """Path and content of an input."""
    path = Random(f"path:{run.target}:{run.seed}:{number}").choice(seeds)[0]
    same = [data for other, data in seeds if other.rpartition(".")[2] == path.rpartition(".")[2]]
    return path, input_of(same, run.target, run.seed, number)


def seeds_of(run: Run) -> list[tuple[str, bytes]]:
    """What the inputs of a target begin as."""
    target = TARGETS[run.target]
    trees = (str(ROOT), *run.trees) if target.suffixes or target.names else ()
    return corpus(run.target, [file for tree in trees for file in _files(tree)])


def _files(tree: str) -> Iterator[tuple[str, bytes]]:
    settings = Settings(_env_file=None, max_file_kb=_LARGEST_SEED >> 10)  # type: ignore[call-arg]
    snapshot: Snapshot = open_source(parse_source(tree), settings)
    files, _ = walk(snapshot, settings)
    chosen = sorted(files, key=lambda f: f.hash)[:_MOST_FILES] if len(files) > _MOST_FILES else files
    for file, data in read_bytes(snapshot, chosen):
        if data is not None:
            yield file.path, data


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--inputs", type=int, default=1_000, help="of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--trees", nargs="*", default=[], help="repositories whose files inputs begin as")
    parser.add_argument("--seconds", type=float, default=20.0, help="of the processor, for an input")
    parser.add_argument("--memory", type=int, default=3_000, help="address space of a process, in MB")
    parser.add_argument("--out", type=Path, help="a folder for the smallest input of each fault")
    parser.add_argument("--show", type=int, help="write this input to standard output")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"unknown: {', '.join(unknown)}")
    return options


def _report(run: Run, faults: Faults, started: float, out: Path | None) -> None:
    count = run.last - run.first
    found = ", ".join(f"{kind} ({len(numbers)})" for kind, numbers in faults.numbers.items()) or "no fault"
    print(f"{run.target:<10} {count:>8} inputs {time.monotonic() - started:7.0f} s  {found}", flush=True)
    if out is None or not faults.numbers:
        return
    out.mkdir(parents=True, exist_ok=True)
    seeds = seeds_of(run)
    for numbers in faults.numbers.values():
        number = min(numbers[:20], key=lambda n: len(made(run, n, seeds)[1]))
        path, data = made(run, number, seeds)
        (out / f"{run.target}-{run.seed}-{number}{Path(path).suffix}").write_bytes(data)


def main() -> None:
    """Run from the command line."""
    options = _arguments()
    failed = False
    for target in options.targets or TARGETS:
        last = options.first + options.inputs
        trees = tuple(str(Path(tree).resolve()) for tree in options.trees)
        run = Run(target, options.seed, options.first, last, trees, options.seconds, options.memory)
        if options.worker:
            work(run)
        elif options.show is not None:
            sys.stdout.buffer.write(made(run, options.show, seeds_of(run))[1])
        else:
            started = time.monotonic()
            faults = fuzz(run)
            failed = failed or bool(faults.numbers)
            _report(run, faults, started, options.out)
    sys.exit(failed)


if __name__ == "__main__":
    main()
