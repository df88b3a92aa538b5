"""Which of a package.json's development packages its tests can need: the runner, and what code or settings name. Pure.

Linters, bundlers and release tools are most of what a large project installs, and no test loads them.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from repopilot.code.formats.data_formats import from_json, parsed_table
from repopilot.code.languages import is_doc_path, is_example_path, is_test_path
from repopilot.project.package_declarations import PackageDeclaration
from repopilot.project.workspaces import MANIFEST

_CODE = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
_SETTINGS = re.compile(
    r"^(?:vitest|vite|jest|babel)\.\w[\w.]*$|^(?:tsconfig[\w.-]*\.json|\.mocharc\S*|\.babelrc\S*|\.swcrc)$"
)
_OTHER_TOOL = re.compile(
    r"^(?:\.?(?:eslint|prettier|stylelint|commitlint|lint-staged)|(?:rollup|webpack|tsup|gulpfile)\b)"
)
_MODULE = re.compile(r"""['"]((?:@[\w.-]+/)?[\w.-]+)(?:/[^'"\s]*)?['"]""")
_RELATIVE = re.compile(r"""['"](\.{1,2}/[^'"\n]+)['"]""")
_LOADS_TYPESCRIPT = re.compile(r"""['"]\.{1,2}/[^'"\n]*\.[cm]?ts['"]""")
_JEST_IN_TYPESCRIPT = re.compile(r"^jest\.config\.c?ts$")
"""Settings files that Jest loads with ts-node, or else with Node itself."""
_WORD = re.compile(r"(?:@[\w.-]+/)?[\w.-]+")
_ALWAYS = re.compile(r"^(?:typescript|@types/.+)$")
_SHORTENED = re.compile(r"(?<![\w.-])(?:(?:jest|vitest|babel)-)?(?:environment|plugin|preset|runner)-")
"""The part of a package's name that settings leave out: `jsdom` means `jest-environment-jsdom`, `@babel/env` means
`@babel/preset-env`."""
_TOOLS = ("jest", "mocha", "vitest", "ava", "babel", "swc", "imports", "c8", "nyc")
_MOST_FILES = 3000


def of_tests(
    declaration: PackageDeclaration, paths: Collection[str], text: Callable[[str], str | None]
) -> PackageDeclaration:
    """A declaration without the development packages that no test can need.

    Args:
        declaration: one of JavaScript; any other is returned as it is.
        paths: the files of the repository.
        text: gives the text of one.

    Returns:
        The declaration to install; unchanged where there are too many files to tell.
    """
    manifest: dict[str, Any] = json.loads(declaration.files.get(MANIFEST, "{}"))
    developing = manifest.get("devDependencies")
    code = [path for path in paths if _can_load(path)]
    code += _loaded_examples(code, paths, text)
    if declaration.language != "javascript" or not developing or len(code) > _MOST_FILES:
        return declaration
    runner = declaration.node.runner
    scripts = "\n".join(declaration.node.scripts.values())
    commands = " ".join(each for each in re.split(r"&&|\|\||[;|&\n]", scripts) if runner in each)
    named = {runner, *_WORD.findall(commands), *_in_manifest(text(MANIFEST))}
    by_jest = runner == "jest" and any(_JEST_IN_TYPESCRIPT.match(PurePosixPath(path).name) for path in paths)
    named.update(["ts-node"] * by_jest)
    for path in code:
        settings = _SETTINGS.match(PurePosixPath(path).name)
        named.update((_WORD if settings else _MODULE).findall(text(path) or ""))
    kept = {
        name: wanted
        for name, wanted in developing.items()
        if {name, _SHORTENED.sub("", name)} & named or _ALWAYS.match(name)
    }
    left = {f"{name}@{wanted}" for name, wanted in developing.items() if name not in kept}
    written = json.dumps(manifest | {"devDependencies": kept}, indent=1, sort_keys=True)
    requirements = tuple(each for each in declaration.requirements if each not in left)
    node = declaration.node
    if any(_LOADS_TYPESCRIPT.search(text(path) or "") for path in code if is_test_path(path)):
        node = node.reading_typescript()
    if by_jest and "ts-node" not in {each.rpartition("@")[0] for each in requirements}:
        node = node.on_native_typescript()
    return replace(declaration, files={**declaration.files, MANIFEST: written}, requirements=requirements, node=node)


def _loaded_examples(code: Collection[str], paths: Collection[str], text: Callable[[str], str | None]) -> list[str]:
    """The examples that tests load."""
    examples = [path for path in paths if path.endswith(_CODE) and is_example_path(path)]
    tests = [path for path in code if examples and is_test_path(path)]
    loaded = {
        posixpath.normpath(posixpath.join(posixpath.dirname(test), place))
        for test in tests
        for place in _RELATIVE.findall(text(test) or "")
    }
    return [path for path in examples if {path.rpartition(".")[0], *map(str, PurePosixPath(path).parents)} & loaded]


def _can_load(path: str) -> bool:
    """Whether a test may load a file, or its runner reads it."""
    name = PurePosixPath(path).name
    if _SETTINGS.match(name):
        return True
    return path.endswith(_CODE) and not (_OTHER_TOOL.match(name) or is_example_path(path) or is_doc_path(path))


def _in_manifest(text: str | None) -> list[str]:
    """The words in package.json's settings of runners and compilers, but not of linters."""
    data = parsed_table(from_json, text)
    return _WORD.findall(json.dumps([data[key] for key in _TOOLS if key in data]))
