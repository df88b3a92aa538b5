"""New members of JavaScript modules whose export is an object literal: the place, the head, the commas."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.shop_workspace import answering, open_workspace, traced
from support.shop_workspace import offline as offline_settings

from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.placed.agent import placed_edit
from repopilot.agents.editing.placed.object_literals import object_literals, with_members
from repopilot.code.split import analyse
from repopilot.workspace import Workspace

REQUEST = """'use strict'

const parse = require('node:url')

module.exports = {
  get header () {
    return this.req.headers
  },

  get method () {
    return this.req.method
  },

  get (field) {
    return this.header[field]
  },

  toJSON () {
    return { method: this.method }
  }
}
"""
RESPONSE = """const proto = {
  has(field) {
    return field in this.headers;
  },

  remove: function (field) {
    delete this.headers[field];
  },
};

export default proto;
"""
APPLICATION = """const request = require('./request')

module.exports = class Application {
  listen (port) {
    return this.server.listen(port)
  }
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    tmp = tmp_path_factory.mktemp("literals")
    files = {"request.js": REQUEST, "response.js": RESPONSE, "application.js": APPLICATION}
    (tmp / "server" / "lib").mkdir(parents=True)
    for name, text in files.items():
        (tmp / "server" / "lib" / name).write_text(text)
    return open_workspace(tmp / "server", offline_settings(tmp / "home"))


async def edited(server: Workspace, task: str, reply: str) -> tuple[str, str]:
    """The last line that code writes for the model, and the changed file."""
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return reply

    workspace = replace(server, model=answering(answer))
    outcome, _, _ = await traced(lambda step: placed_edit(EditRequest(task), workspace, step))
    return prompts[0].rstrip().split("\n")[-1], outcome.changes[0].content


@pytest.mark.parametrize(
    "task",
    [
        "Add a getter secure to the request that tells whether it came over TLS",
        "request.js: add a secure getter, whether it came over TLS",
        "The request should have a getter secure, whether it came over TLS",
        "Give request a getter secure that tells whether it came over TLS",
    ],
)
async def test_a_getter_goes_behind_the_last_getter(server: Workspace, task: str) -> None:
    head, text = await edited(server, task, "    return this.req.encrypted\n  }\n```")
    assert head == "  get secure () {"
    new = "  get secure () {\n    return this.req.encrypted\n  },\n"
    assert text == REQUEST.replace("  get (field) {", f"{new}\n  get (field) {{")


@pytest.mark.parametrize(
    "task",
    [
        "the request needs a has(field) method",
        "Add has(field) to the request: whether the header is there",
        "Add a method request.has(field), whether the header is there",
    ],
)
async def test_a_method_goes_to_the_end_with_a_comma_before_it(server: Workspace, task: str) -> None:
    head, text = await edited(server, task, "    return field in this.header\n  }\n```")
    assert head == "  has (field) {"
    assert text.endswith("  },\n\n  has (field) {\n    return field in this.header\n  }\n}\n"), "none behind the last"


async def test_a_trailing_comma_stays_one(server: Workspace) -> None:
    task = "Add a method clear() to the response that removes all"
    _, text = await edited(server, task, ") {\n    this.headers = {};\n  },\n")
    assert "delete this.headers[field];\n  },\n\n" in text and text.count("},\n};") == 1
    assert analyse("lib/response.js", text, "javascript", "code").parsed


async def test_a_helper_function_of_the_file_stays_one(server: Workspace) -> None:
    code = "function lowered (text) {\n  return text\n}\n"
    _, text = await edited(server, "Add a helper function lowered(text) to request.js", f"{code}```")
    assert text == f"{REQUEST}\n{code}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("module.exports = { a () {} }", ["thing"]),
        ("const proto = module.exports = {\n  a () {}\n}", ["thing"]),
        ("export default {\n  a: () => 1,\n} as const", ["thing"]),
        ("export const box = { a: function () {} }", ["box"]),
        ("exports.box = { a () {} }", ["box"]),
        ("const data = { a: 1 }; f({ a () {} })", []),
        ("", []),
        ("module.exports = {", []),
    ],
)
def test_what_is_an_object_with_methods(text: str, names: list[str]) -> None:
    assert [o.name for o in object_literals("lib/thing.ts", text)] == names
    assert object_literals("lib/thing.py", text) == []


def test_its_methods_become_members() -> None:
    outline = analyse("lib/request.js", REQUEST, "javascript", "code").symbols
    (literal,) = object_literals("lib/request.js", REQUEST)
    assert {s.qualified for s in with_members(outline, literal)} >= {"request", "request.header", "request.get"}


def test_a_bare_name_is_no_statement_to_add(server: Workspace) -> None:
    assert exact_edit("add `length` to `lib/request.js`", server) is None
