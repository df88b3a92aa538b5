"""Relinking only what can have changed gives the very graph that linking everything gives."""

import json
import re
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.code import languages
from repopilot.code.graph.build import link_graph
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.link_state import Linkage, Linked
from repopilot.code.graph.linker import Linker
from repopilot.code.project.manifest import read_manifest
from repopilot.code.split import FileAnalysis, analyse

Files = dict[str, str]


@lru_cache(maxsize=4000)
def read(path: str, text: str) -> FileAnalysis:
    return analyse(path, text, languages.language_of(path) or "", languages.file_kind(path))


def link(files: Files, before: Linked | None = None, only: str = "") -> Linked:
    """`only`: the one name whose uses are kept, as of a language whose queries find no others."""
    analyses = [read(path, text) for path, text in files.items()]
    if only:
        analyses = [replace(file, uses=tuple(use for use in file.uses if use.name == only)) for file in analyses]
    manifests = [m for p, t in files.items() if (m := read_manifest(p, t))]
    linked = link_graph(analyses, list(files.values()), manifests, before)
    return Linked(linked.graph, Linkage(**json.loads(json.dumps(asdict(linked.linkage)))))


def same(one: Graph, other: Graph) -> bool:
    names = ("sources", "targets", "kinds", "confidence", "lines")
    return (
        list(one.nodes) == list(other.nodes)
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
        and one.unresolved == other.unresolved
    )


def checked(steps: list[Files]) -> None:
    """Every step linked incrementally equals the same step linked from scratch."""
    before = link(steps[0])
    for files in steps[1:]:
        before, whole = link(files, before), link(files)
        assert same(before.graph, whole.graph)
        assert before.linkage == whole.linkage


NAMES = st.sampled_from(["a", "b", "run", "Base"])
FOLDERS = {"python": "pkg", "js": "web", "go": "shop", "java": "com/shop", "rust": "src"}
MOVED = "// in another package\n"
PIECES = {
    "python": [
        "def {0}(x: {1}):\n    x.{2}()\n    {2}()\n",
        "class {0}({1}):\n    def {2}(self):\n        self.{1}()\n        return {2}(0)\n",
        "from .{0} import *\n",
        "from .{0} import {1} as {2}\n",
        "from . import {0}\n{0}.{1}()\n",
        "from pkg import {0} as {1}\n",
        "import pkg.{0} as {1}\n{1}.{2}.run()\n",
        "{0} = {1}()\n",
        "def {0}(db):\n    db.execute('SELECT * FROM {1}')\n",
        "class {0}(Model):\n    __tablename__ = '{1}'\n    id = Column(Integer)\n",
    ],
    "js": [
        "export function {0}(x: {1}) {{ x.{2}(); {2}(); }}\n",
        "export class {0} extends {1} {{ {2}() {{ this.{1}(); }} }}\n",
        "import {{ {1} as {2} }} from './{0}';\n{2}();\n",
        "import * as {1} from './{0}';\n{1}.{2}();\n",
        "export * from './{0}';\n",
        "export {{ {1} as {2} }} from './{0}';\n",
        "import {1} from 'shop/{0}';\n{1}.{2}();\n",
    ],
    "go": [
        "type {0} struct{{}}\n\nfunc (b *{0}) {1}() {{ b.{2}(); {1}() }}\n",
        "func {0}(c *{1}) int {{ return c.{2}() + {1}() }}\n",
    ],
    "java": [
        "class {0} extends {1} {{ int {2}({1} x) {{ return x.{2}() + {0}.{2}(); }} }}\n",
        "import com.shop.{0};\n",
        "import com.shop.*;\n",
        MOVED,
    ],
    "rust": [
        "use crate::{0}::{1};\n",
        "use crate::{0}::*;\n",
        "pub use crate::{0}::{1} as {2};\n",
        "pub mod {0};\n",
        "pub fn {0}(x: {1}) -> u32 {{ x.{2}(); {2}() }}\n",
        "pub struct {0};\n\nimpl {0} {{ pub fn {1}(&self) {{ self.{2}(); {1}(); }} }}\n",
    ],
}
ENDS = {"python": ["py"], "js": ["ts", "tsx", "js"], "go": ["go"], "java": ["java"], "rust": ["rs"]}
FIXED = {
    "python": ["pkg/__init__.py", "tests/test_a.py"],
    "js": ["web/index.ts", "web/a.test.ts"],
    "go": ["shop/a_test.go", "shop/deep/b.go"],
    "java": ["com/pay/Base.java"],
    "rust": ["src/lib.rs"],
}

Pieces = dict[str, list[str]]


def texts(pieces: Pieces) -> Files:
    """The files of a repository that is given in pieces."""
    return {path: _head(path, parts) + "".join(parts) for path, parts in pieces.items()}


def _head(path: str, parts: list[str]) -> str:
    head = {"go": "package shop\n\n", "java": "package com.shop;\n"}.get(path.rsplit(".", 1)[-1], "")
    return head.replace("shop", "pay") if MOVED in parts else head


@st.composite
def one_piece(draw, language: str) -> str:
    return draw(st.sampled_from(PIECES[language])).format(draw(NAMES), draw(NAMES), draw(NAMES))


@st.composite
def one_path(draw, language: str) -> str:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return draw(st.sampled_from(FIXED[language]))
    return f"{FOLDERS[language]}/{draw(NAMES)}.{draw(st.sampled_from(ENDS[language]))}"


@st.composite
def edited(draw, pieces: Pieces, language: str) -> Pieces:
    """The repository after one edit."""
    kind = draw(st.sampled_from(["insert", "insert", "cut", "cut", "swap", "add", "drop", "move", "name", "order"]))
    if kind == "name":
        return {"package.json": [json.dumps({"name": draw(st.sampled_from(["shop", "other"]))})], **pieces}
    if kind == "order":
        return dict(draw(st.permutations(sorted(pieces.items()))))
    path = draw(st.sampled_from(sorted(pieces)))
    parts, others = list(pieces[path]), {p: found for p, found in pieces.items() if p != path}
    at = draw(st.integers(0, max(0, len(parts) - 1)))
    if kind == "insert":
        parts.insert(at, draw(one_piece(language)))
    elif kind in ("cut", "swap"):
        parts[at : at + 1] = [draw(one_piece(language))] if kind == "swap" else []
    elif kind == "add":
        return dict(sorted({**pieces, draw(one_path(language)): [draw(one_piece(language))]}.items()))
    elif kind == "drop" and others:
        return others
    elif kind == "move":
        return dict(sorted({**others, draw(one_path(language)): parts}.items()))
    return {p: parts if p == path else found for p, found in pieces.items()}


@st.composite
def histories(draw) -> list[Files]:
    """A repository and what a few edits make of it; mostly in one language."""
    language = draw(st.sampled_from(list(PIECES)))
    paths = draw(st.lists(one_path(language), min_size=3, max_size=8, unique=True))
    pieces = {path: draw(st.lists(one_piece(language), min_size=1, max_size=5)) for path in sorted(paths)}
    other = draw(st.sampled_from(list(PIECES)))
    pieces |= {draw(one_path(other)): [draw(one_piece(other))]}
    steps = [pieces]
    for _ in range(draw(st.integers(1, 5))):
        steps.append(draw(edited(steps[-1], draw(st.sampled_from([language, language, other])))))
    return [texts(step) for step in steps]


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(histories())
def test_any_edits_give_the_graph_of_a_full_build(steps):
    checked(steps)


SHOP = {
    "a.py": "def far():\n    pass\n",
    "b.py": "from a import far as near\n",
    "c.py": "from b import near as here\n\n\ndef go():\n    here()\n",
    "d.py": "from c import *\n",
    "e.py": "from d import *\n\n\ndef more():\n    go()\n",
    "f.py": "def alone():\n    return 1\n",
    "g.py": "def typed(x: Kind):\n    x.act()\n",
    "h.py": "class Other:\n    def act(self):\n        pass\n",
}


def relinked_files(monkeypatch, files: Files, edited: Files) -> set[str]:
    """The files that are relinked when `files` have become `edited`, which must give the graph of a full build."""
    before, relinked = link(files), set()
    start_file = Linker._start_file

    def recorded(linker: Linker, number: int) -> None:
        relinked.add(linker.lookup.files[number].path)
        start_file(linker, number)

    with monkeypatch.context() as patch:
        patch.setattr(Linker, "_start_file", recorded)
        after = link(edited, before)
    assert same(after.graph, link(edited).graph)
    return relinked


def test_a_changed_body_is_linked_alone(monkeypatch):
    edited = SHOP | {"c.py": SHOP["c.py"].replace("here()", "pass\n    here()")}
    assert relinked_files(monkeypatch, SHOP, edited) == {"c.py"}


def test_a_renamed_definition_reaches_those_who_know_it_by_another_name(monkeypatch):
    assert relinked_files(monkeypatch, SHOP, SHOP | {"a.py": "def farther():\n    pass\n"}) == {"c.py"}


def test_a_new_definition_reaches_those_who_mention_it(monkeypatch):
    edited = SHOP | {"f.py": SHOP["f.py"] + "\n\ndef go():\n    pass\n"}
    assert "e.py" in relinked_files(monkeypatch, SHOP, edited)


def test_a_type_that_appears_reaches_signatures(monkeypatch):
    edited = SHOP | {"f.py": SHOP["f.py"] + "\n\nclass Kind:\n    def act(self):\n        pass\n"}
    assert "g.py" in relinked_files(monkeypatch, SHOP, edited)


def test_a_star_import_that_goes_away_reaches_those_behind_it(monkeypatch):
    assert "e.py" in relinked_files(monkeypatch, SHOP, SHOP | {"d.py": ""})
    assert "e.py" in relinked_files(monkeypatch, SHOP, SHOP | {"d.py": "from f import *\n"})


def test_a_file_that_goes_away_and_one_that_comes(monkeypatch):
    gone = {path: text for path, text in SHOP.items() if path != "b.py"}
    assert "c.py" in relinked_files(monkeypatch, SHOP, gone)
    assert "c.py" in relinked_files(monkeypatch, gone, SHOP)
    assert "f.py" not in relinked_files(monkeypatch, gone, SHOP)


RUN = "def run():\n    pass\n"
ACT = "class Kind:\n    def act(self):\n        pass\n"


@pytest.mark.parametrize(
    ("only", "files", "edit"),
    [
        (
            "run",
            {
                "pkg/one.py": RUN,
                "pkg/two.py": RUN,
                "pkg/__init__.py": "from . import one as a\n",
                "user.py": "import pkg\n\npkg.a.run()\n",
            },
            {"pkg/__init__.py": "from . import two as a\n"},
        ),
        (
            "act",
            {
                "one.py": ACT,
                "two.py": ACT,
                "kinds.py": "from one import Kind\n",
                "user.py": "from kinds import Kind\n\n\ndef go(x: Kind):\n    x.act()\n",
            },
            {"kinds.py": "from two import Kind\n"},
        ),
        (
            "run",
            {
                "com/a/Cart.java": "package com.a;\nclass Cart { int run() { return 1; } }\n",
                "com/b/Cart.java": "package com.b;\nclass Cart { int run() { return 1; } }\n",
                "com/b/User.java": "package com.b;\nclass User { int go(Cart c) { return c.run(); } }\n",
            },
            {"com/b/Cart.java": "package com.c;\nclass Cart { int run() { return 1; } }\n"},
        ),
    ],
)
def test_names_in_receivers_and_signatures_and_members_of_packages(only, files, edit):
    before, edited = link(files, only=only), files | edit
    whole = link(edited, only=only)
    assert not same(before.graph, whole.graph)
    assert same(link(edited, before, only).graph, whole.graph)


@pytest.mark.slow
def test_edits_of_real_code():
    root = Path(__file__).resolve().parents[2]
    folders = ("repopilot/code", "repopilot/index", "repopilot/impact", "tests/code", "tests/index")
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*") if path.is_file())
    files = {p.relative_to(root).as_posix(): p.read_text("utf-8") for p in paths if languages.language_of(p.name)}
    before = link(files)
    outlines = dict(zip(files, before.linkage.outlines, strict=True))
    for path in list(files)[::48]:
        names = [name for name, *_ in outlines[path]]
        renamed = files | {path: re.sub(rf"\b{re.escape(names[0])}\b", "another", files[path])} if names else files
        without = {other: text for other, text in files.items() if other != path}
        starred = files | {path: "from repopilot.code.graph.graph import *\n" + files[path]}
        for edited in (renamed, without, starred, {"a/" + path: files[path], **files}):
            assert same(link(edited, before).graph, link(edited).graph)
