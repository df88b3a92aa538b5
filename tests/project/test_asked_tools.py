"""Which linters and formatters the files of a repository ask for, whatever kind of file does."""

from __future__ import annotations

import pytest

from repopilot.project.asked_tools import asked_tools, may_ask

HOOKS = "repos:\n- repo: x\n  hooks:\n  - id: ruff-format\n  - id: trailing-whitespace\n  - id: black\n"


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("package.json", '{"scripts": {"test": "xo && tsc --noEmit && ava"}}', ["xo", "tsc"]),
        ("package.json", '{"devDependencies": {"eslint": "^9", "eslint-plugin-x": "1", "react": "1"}}', ["eslint"]),
        ("package.json", '{"scripts": {"lint": "npm run lint:code", "lint:code": "eslint . --fix"}}', ["eslint"]),
        (
            "package.json",
            '{"scripts": {"lint": "oxlint . && oxfmt", "test": "pnpm lint && vitest", "test:types": "npx tsgo"}}',
            ["oxlint", "oxfmt", "tsgo"],
        ),
        ("package.json", '{"scripts": {"check": "cd a && CI=1 node tools/check.js -v"}}', ["node tools/check.js -v"]),
        (".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: cargo clippy -- -D x\n", ["cargo clippy"]),
        (".github/workflows/ci.yml", "steps:\n  - run: |\n      go vet ./... | tee log\n      go test\n", ["go vet"]),
        ("Makefile", "lint: $(BIN)/x ## Lint\n\t@echo Linting\n\t@golangci-lint run\n", ["golangci-lint"]),
        (".pre-commit-config.yaml", HOOKS, ["ruff", "black"]),
        (".pre-commit-config.yaml", "repos: [", []),
        ("requirements-dev.txt", "flake8==7\npytest\n", ["flake8"]),
        ("README.md", "Run `eslint .` first.\n", []),
        ("src/black.py", "import black\n", []),
    ],
)
def test_what_asks_for_tools(path: str, text: str, found: list[str]) -> None:
    assert list(asked_tools([(path, text)])) == found
    assert may_ask(path) or not found
