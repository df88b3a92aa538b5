"""The page: how fast it appears and how it stays responsive with much in it.

    python -m bench.page [--json OUT]

A chat of 300 messages is stored, one of them with a trace of 2,000 steps, one with a diff of 5,000 lines, beside a file
of 20,000 lines; then a headless Chromium opens it. Scrolling and unfolding are the median time from the event to the
frame that shows it; `first paint` is the first contentful paint of the first screen. Then a scripted model calls tools
40 times, its whole budget, in no time, and its steps are open while they come: `live scroll` is the slowest median of
those moments, `first words shown` the time from a model's first words to the page that shows them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support import git_server
from support.app import running
from support.browser import Tab, chromium
from support.ollama_server import OllamaServer, Script

from repopilot.database.chat_database import ChatDatabase
from repopilot.repo.source import parse_source
from repopilot.results import Answer, Generation
from repopilot.settings import Settings
from repopilot.tools.file_change import change
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, repository_id, save
from repopilot.ui.repository.registry import opening_key

MESSAGES, STEPS, DIFF_LINES, FILE_LINES, CALLS = 300, 2000, 5000, 20_000, 40
SCROLL = """async (selector) => {
    const pane = [...document.querySelectorAll(selector)].pop();
    const frames = [];
    for (let step = 0; step < 20; step++) {
        const began = performance.now();
        pane.scrollTop = pane.scrollHeight * step / 20;
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        frames.push(performance.now() - began);
    }
    return frames.sort((a, b) => a - b)[10];
}"""
SCROLLER = """(selector) => {
    let pane = [...document.querySelectorAll(selector)].pop();
    while (pane && (pane.scrollHeight <= pane.clientHeight + 5 || getComputedStyle(pane).overflowY === 'visible'))
        pane = pane.parentElement;
    pane?.classList.add('the-scroller');
    return Boolean(pane);
}"""
WATCH = """() => new MutationObserver(() => {
    if (document.body.textContent.includes('The function')) window.shownAt ??= Date.now();
}).observe(document.body, {subtree: true, childList: true, characterData: true})"""
CLICK = """async (selector) => {
    const frames = [];
    for (const button of [...document.querySelectorAll(selector)].slice(0, 20)) {
        const began = performance.now();
        button.click();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        frames.push(performance.now() - began);
    }
    return frames.sort((a, b) => a - b)[Math.floor(frames.length / 2)];
}"""


def main() -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder))
        found |= measure_live(Path(folder))
    for name, value in found.items():
        print(f"{name:24} {value:8.1f}")
    if options.json:
        options.json.write_text(json.dumps(found))


def measure(folder: Path) -> dict[str, float]:
    """The figures by name."""
    repository = folder / "much"
    lines = [f"value_{n} = {n}" for n in range(FILE_LINES - 3)]
    git_server.commit(repository, {"much.py": "\n".join([*lines, "", "def last_one():", "    return 1"]) + "\n"})
    fill(folder / "home" / "data", repository)
    found: dict[str, float] = {}
    quiet = {"auto_download": "false", "embedded": "false", "ollama_url": ""}
    with running(folder / "home", **quiet) as app, chromium() as browser:
        tab = Tab(browser, moving=True)
        page = tab.page
        page.goto(app.url)
        page.wait_for_selector(".rp-welcome")
        page.goto(app.url)  # the second visit, as everyday ones
        page.wait_for_selector(".rp-welcome")
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        found["first paint, ms"] = page.evaluate(paint)
        page.goto(f"{app.url}/?repo={repository}&chat=much")
        began = time.monotonic()
        page.wait_for_function("document.querySelectorAll('.rp-footer').length >= 20", timeout=120_000)
        found["chat restored, ms"] = (time.monotonic() - began) * 1000
        page.wait_for_timeout(1500)
        assert page.evaluate(SCROLLER, ".rp-footer")
        found["chat scroll, ms"] = page.evaluate(SCROLL, ".the-scroller")
        found["diff scroll, ms"] = page.evaluate(SCROLL, ".rp-diff-scroll")
        page.locator('[aria-label="Steps of this answer"]').last.click()
        page.wait_for_selector(".rp-trace-panel .rp-trace-head")
        found["trace unfold, ms"] = page.evaluate(CLICK, '.rp-trace-head[aria-expanded="false"]')
        found["trace scroll, ms"] = page.evaluate(SCROLL, ".rp-trace-panel .rp-code-scroll")
        tab.say("where is last_one defined?")
        page.wait_for_function("document.querySelectorAll('.rp-footer').length >= 21", timeout=60_000)
        page.locator(".rp-source", has_text="much.py").last.click()
        page.wait_for_selector(".rp-file-text")
        found["file scroll, ms"] = page.evaluate(SCROLL, ".rp-file-text")
        assert tab.problems == [], tab.problems
    return found


def measure_live(folder: Path) -> dict[str, float]:
    """The figures of an answer for which a model calls tools 40 times, while it is worked on."""
    said: list[float] = []

    def sentence() -> Iterator[str | float]:
        yield 3.0  # as a model thinks: what came before has been shown
        yield "The function "
        said.append(time.time())
        yield 0.5
        yield "`last_one` returns 1 [1]."

    def reply(messages: Sequence[dict]) -> Script:
        asked = "\n".join(m.get("content") or "" for m in messages if m["role"] != "tool")
        calls = sum("tools" in body for body in ollama.state.sent("/api/chat"))
        if "What tools return" not in asked or calls > CALLS:
            return sentence()
        return {"tool_calls": [{"name": "read", "arguments": {"path": "much.py", "start": calls, "end": calls + 5}}]}

    quiet = {"auto_download": "false", "embedded": "false", "loop_steps": CALLS + 9, "loop_tokens": 10**9}
    models = {"models": ["qwen3:8b"], "capabilities": ("completion", "tools")}
    with OllamaServer(reply=reply, **models) as ollama, chromium() as browser:
        with running(folder / "live", ollama_url=ollama.url, loop_seconds=3600, **quiet) as app:
            tab = Tab(browser, moving=True)
            page = tab.page
            page.goto(f"{app.url}/?repo={folder / 'much'}")
            page.wait_for_selector('[data-answerable="true"]')
            tab.say("Why does last_one return what it returns, and where does that come from?")
            page.evaluate(WATCH)
            frames: list[float] = []
            while not page.evaluate("window.shownAt"):
                page.wait_for_timeout(1000)
                if page.evaluate(SCROLLER, 'button[id^="step-"]'):
                    frames.append(page.evaluate(SCROLL, ".the-scroller"))
            shown = page.evaluate("window.shownAt") / 1000 - said[-1]
            assert tab.problems == [], tab.problems
    return {"live scroll, ms": max(frames), "first words shown, ms": shown * 1000}


def fill(home: Path, repository: Path) -> None:
    """Store the chat."""
    settings = Settings(home=home)
    key = ThreadKey(
        "much", repository_id(opening_key(parse_source(str(repository)), settings)), "", "much", str(repository)
    )
    database = ChatDatabase(home)
    before = "\n".join(f"value_{n} = {n}" for n in range(FILE_LINES - 3)) + "\n"
    after = before
    for n in range(0, DIFF_LINES // 2):
        after = after.replace(f"value_{n} = {n}\n", f"value_{n} = -{n}\n", 1)
    children = [step(f"step {n}", []) for n in range(STEPS // 10)]
    trace = [step("work", [step(f"part {n}", children[n * 20 : n * 20 + 20] * 10) for n in range(10)])]
    for number in range(MESSAGES // 2):
        answer, steps = Answer(f"Answer {number}, in some words."), []
        if number == MESSAGES // 2 - 2:
            answer = Answer("Changed.", files=(change("much.py", after, before),), result=Generation())
        if number == MESSAGES // 2 - 1:
            steps = trace
        save(database, key, Exchange(f"question {number}?", "", answer, "footer", steps=steps))


def step(name: str, children: list[dict]) -> dict:
    """A step as it is stored."""
    data = {"hits": [{"path": "much.py", "score": 1.0}]} if not children else {}
    return {
        "name": name,
        "kind": "tool",
        "state": "ok",
        "input": "what it works on " * 5,
        "output": "what it found " * 10,
        "error": "",
        "duration_s": 0.1,
        "data": data,
        "children": children,
    }


if __name__ == "__main__":
    main()
