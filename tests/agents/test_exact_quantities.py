"""Numbers that a task describes by their value and by words, in whatever unit."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.edited import workspace_of
from support.ollama_server import OllamaServer
from support.shop_workspace import traced

from repopilot.agents.editing.chosen_number import chosen_number
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.values.quantities import code_numbers
from repopilot.agents.editing.exact.wording.exchanged_quantities import exchanged_quantities
from repopilot.agents.editing.exact.wording.said_quantities import quantities
from repopilot.agents.editing.exact.wording.task_tokens import folded
from repopilot.llm.choose import choose
from repopilot.llm.resources import ModelResources
from repopilot.settings import Settings
from repopilot.workspace import Workspace

FILES = {
    "net/pool.py": '''"""Connections."""

IDLE_WORKER_LIFE = 300  # 5 minutes
READ_SIZE = 32 * 1024
LOCK_RENEWAL: float = 3600.0  # in seconds (1 hour)
_BATCH = 65536
URL = "https://example.org"
FRAME_LIMIT = 2**16


class Pool:
    """Defaults to 10 connections."""

    def acquire(self, timeout: float = 30, retries: int = 3) -> None:
        self.retries = retries

    def ping(self, wait: float = 0.5) -> None:
        return None


def push_to(url, timeout=30):
    return url


def pull_from(url, timeout=30):
    return url
''',
    "net/poll.py": "import time\n\n\ndef watch(files):\n    time.sleep(3)\n    return files[3]\n",
    "web/redirects.js": "export const limits = {\n  maxRedirects: 10,\n  cacheBytes: 8192,\n};\n",
    "srv/main.go": 'package srv\n\nimport "time"\n\nconst lookupTimeout = 5 * time.Second\n'
    "const memory = 32 << 20 // 32 MB\n"
    "var mode = os.FileMode(0o644)\n",
    "src/buffer.rs": "const MAX_BUFFER: usize = 1000;\nconst TIME: Duration = Duration::from_millis(100);\n",
    "tests/test_pool.py": "LIFE = 300\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("quantities"), FILES)


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        ("Idle workers should be kept for ten minutes instead of five.", ["IDLE_WORKER_LIFE = 600  # 10 minutes"]),
        ("the read size of the pool: 64 KB rather than 32 KB please", ["READ_SIZE = 64 * 1024"]),
        (
            "une heure de renouvellement du verrou (LOCK_RENEWAL) c'est pas assez, passe à 3 h",
            ["LOCK_RENEWAL: float = 10800.0  # in seconds (3 hours)"],
        ),
        (
            "le timeout par défaut de push_to et pull_from doit passer de 30 à 10 secondes",
            ["def push_to(url, timeout=10):", "def pull_from(url, timeout=10):"],
        ),
        ("10 redirects is not enough, our links need max redirects of 20", ["  maxRedirects: 20,"]),
        ("The name lookup timeout is five seconds, cut that to 2s.", ["const lookupTimeout = 2 * time.Second"]),
        ("Raise the memory from 32 to 64 MB", ["const memory = 64 << 20 // 64 MB"]),
        ("make 0600 the file mode instead of 0644", ["var mode = os.FileMode(0o600)"]),
        ("a frame may have 128 KiB instead of 64 KiB (the frame limit)", ["FRAME_LIMIT = 2**17"]),
        ("Raise FRAME_LIMIT to 96 KiB", ["FRAME_LIMIT = 98304"]),
        ("MAX_BUFFER holds a thousand results, let it hold four thousand", ["const MAX_BUFFER: usize = 4000;"]),
        ("poll: watch the files once every half second, not every three", ["    time.sleep(0.5)"]),
    ],
)
def test_a_number_is_exchanged_in_the_unit_of_the_code(repository: Workspace, task: str, lines: list[str]) -> None:
    outcome = exact_edit(task, repository)
    assert outcome is not None and outcome.by_code
    added = [line[1:] for c in outcome.changes for line in c.diff.split("\n") if line[:1] == "+" and line[:3] != "+++"]
    assert added == lines


@pytest.mark.parametrize(
    "task",
    [
        "If there are more than 10 redirects raise an error after 20",
        "Add an option --wait (default: 5 seconds) to the pool",
        "the error message should say 10 instead of 5",
        "Support Python 3.14",
        "page 300 of the docs has 600 words",
        "watch should be faster",
        "the url should queue up to 128 KiB instead of 64",
    ],
)
def test_what_asks_for_more_than_a_number_is_left_alone(repository: Workspace, task: str) -> None:
    assert exact_edit(task, repository) is None


def test_a_number_that_several_lines_may_be_is_left_to_the_model(repository: Workspace) -> None:
    assert exact_edit("let it be 30 instead of 3", repository) is None


@pytest.mark.parametrize(
    ("chosen", "rivals", "new"),
    [
        ("net/pool.py:6 _BATCH = 65536", {}, "+_BATCH = 262144"),
        ("net/pool.py:6 _BATCH = 65536", {' "none': 0.45}, None),
        ("none of them", {}, None),
    ],
)
async def test_code_and_the_model_have_to_agree(
    repository: Workspace, tmp_path: Path, chosen: str, rivals: dict[str, float], new: str | None
) -> None:
    task = "we read up to 64 KiB at once, let that grow to 256 KiB"
    assert exact_edit(task, repository) is None
    with OllamaServer(native=False, reply=lambda _: json.dumps({"choice": chosen}), rivals=rivals) as server:
        settings = Settings(home=tmp_path, ollama_url="", llm_url=server.url, model_timeout_s=20)
        model = await choose(settings, ModelResources())
        workspace = replace(repository, model=model)
        edit, outline, _ = await traced(lambda step: chosen_number(EditRequest(task), workspace, step))
    assert "choose the number" in outline
    if new is None:
        assert edit is None
    else:
        assert edit is not None and new in edit.changes[0].diff and not edit.by_code


@given(st.integers(1, 10**6), st.sampled_from(["", " seconds", "s", " MB", " minutes", "ms"]))
def test_every_number_of_a_text_is_read_with_its_unit(number: int, unit: str) -> None:
    (found,) = quantities(folded(f"it takes {number}{unit}, so."))
    assert found.number == number and bool(found.unit) == bool(unit)


@given(st.text(max_size=80) | st.text("0123456789_xXoOabu*< .", max_size=20))
def test_any_text_can_be_read(text: str) -> None:
    for number in code_numbers(text):
        assert text[number.start : number.end] == number.text
    exchanged_quantities(text)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("half a second", [(Fraction(1, 2), "s")]),
        ("un quart de seconde", [(Fraction(1, 4), "s")]),
        ("a two-minute timeout", [(2, "min")]),
        ("thirty-two threads", [(32, "")]),
        ("1,000,000 rows, four thousand", [(1_000_000, ""), (4000, "")]),
        ("utf-8, v1.2.3, #219, h2, 3.9+", []),
        ("in one go rather than 8 ko", [(8, "kb")]),
    ],
)
def test_quantities_in_words(text: str, numbers: list) -> None:
    assert [(q.number, q.unit) for q in quantities(text)] == numbers
