"""Database tables declared in Prisma, SQL, Rails, Django and SQLAlchemy, and where SQL in code names tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.code.brackets import closed_at, split_outside
from repopilot.code.chunks.text_spans import unquoted
from repopilot.code.file_analysis import Table
from repopilot.code.source_positions import line_at
from repopilot.types import Symbol

_SQL_WORDS = re.compile(r"\b(?:select|insert|update|delete|create|alter)\b", re.IGNORECASE)
_MENTION = re.compile(
    r"\b(?:from|join|into|update|table|references)\s+(?:if\s+(?:not\s+)?exists\s+|only\s+)?"
    r"[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?([A-Za-z_]\w*)(?![\w.]|\s+import\b)",
    re.IGNORECASE,
)
_LONGEST = 50_000
"""The most characters read of a declaration."""
_NOT_TABLES = frozenset(
    "select set where values the a an this that if exists only of from and or not now to in it".split()
)


def tables(path: str, text: str, language: str, symbols: Sequence[Symbol]) -> list[Table]:
    """The tables that one file declares, ordered by line.

    Args:
        path: the file's path.
        text: its text.
        language: its language.
        symbols: the symbols it defines.
    """
    if language == "prisma":
        return list(_prisma(path, text))
    if language == "sql":
        return list(_sql(path, text))
    if language == "python":
        found = [*_python_classes(path, text, symbols), *_calls(path, text)]
        return sorted(found, key=lambda t: t.line)
    if language == "ruby" and "create_table" in text:
        return list(_rails(path, text))
    return []


def mentions(text: str) -> list[tuple[str, int]]:
    """(name, line) of possible table names in SQL inside the text. Many aren't tables: compare with declared ones."""
    if not _SQL_WORDS.search(text):
        return []
    result = []
    line = 1
    at = 0
    for match in _MENTION.finditer(text):
        if match[1].lower() not in _NOT_TABLES:
            line += text.count("\n", at, match.start())
            at = match.start()
            result.append((match[1], line))
    return list(dict.fromkeys(result))


def _prisma(path: str, text: str) -> Iterator[Table]:
    blocks = list(re.finditer(r"^(model|view)\s+(\w+)\s*\{(.*?)^\}", text, re.M | re.S))
    models = {m[2] for m in blocks}
    for block in blocks:
        fields = re.findall(r"^[^\S\n]+(\w+)\s+(\w+)", re.sub(r"//[^\n]*", "", block[3]), re.M)
        mapped = re.search(r'@@map\(\s*(?:name:\s*)?"([^"]+)"', block[3])
        yield Table(
            mapped[1] if mapped else block[2],
            tuple(n for n, t in fields if t not in models),
            path,
            line_at(text, block.start()),
            "prisma",
            block[2],
            tuple(dict.fromkeys(t for _, t in fields if t in models)),
        )


_CREATE = re.compile(
    r"create\s+(?:(?:global|local|temp|temporary|unlogged|virtual|foreign)\s+)*table\s+(?:if\s+not\s+exists\s+)?"
    r"([\w.\"`\[\]]+)\s*(?:using\s+\w+\s*)?\(",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(r"(primary|foreign|unique|constraint|check|key|index|exclude|like|fulltext|period)\b", re.I)


def _sql(path: str, text: str) -> Iterator[Table]:
    for match in _CREATE.finditer(text):
        body = _balanced(text, match.end() - 1)
        columns = []
        refers = []
        for part in split_outside(re.sub(r"--[^\n]*", "", body), ",", "(", ")"):
            refers += [unquoted(name) for name in re.findall(r"\breferences\s+([\w.\"`\[\]]+)", part, re.I)]
            word = re.match(r"\s*([\w\"`\[\]]+)", part)
            if word and not _CONSTRAINT.match(part.strip()):
                columns.append(unquoted(word[1]))
        yield Table(
            unquoted(match[1]).rsplit(".", 1)[-1],
            tuple(columns),
            path,
            line_at(text, match.start()),
            "sql",
            refers=tuple(dict.fromkeys(r.rsplit(".", 1)[-1] for r in refers)),
        )


def _rails(path: str, text: str) -> Iterator[Table]:
    for match in re.finditer(r"create_table\s*\(?\s*[:\"'](\w+)[\"']?(.*?)^[^\S\n]*end\b", text, re.M | re.S):
        columns = re.findall(r"\bt\.(?!index\b|timestamps\b)\w+\s+[:\"'](\w+)", match[2])
        yield Table(
            match[1],
            tuple(columns),
            path,
            line_at(text, match.start()),
            "rails",
            refers=tuple(re.findall(r"\bt\.references\s+[:\"'](\w+)", match[2])),
        )


_DJANGO_FIELD = re.compile(r"^[^\S\n]+(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(\w+(?:Field|Key))\((\s*['\"]?[\w.]+)?", re.M)
_ALCHEMY_FIELD = re.compile(
    r"^[^\S\n]+(\w+)\s*(?::\s*(?:\w+\.)*Mapped\[[^\n]*|(?::[^=\n]+)?=\s*(?:\w+\.)*(?:Column|mapped_column)\()", re.M
)


def _python_classes(path: str, text: str, symbols: Sequence[Symbol]) -> Iterator[Table]:
    if "Model" not in text and "__tablename__" not in text:
        return
    lines = text.split("\n")
    for symbol in (s for s in symbols if s.kind == "class"):
        body = "\n".join(lines[symbol.start_line - 1 : symbol.end_line])
        named = re.search(r"^[^\S\n]+__tablename__\s*(?::[^=\n]+)?=\s*['\"](\w+)['\"]", body, re.M)
        if named:
            yield Table(
                named[1],
                tuple(_ALCHEMY_FIELD.findall(body)),
                path,
                symbol.start_line,
                "sqlalchemy",
                symbol.qualified,
                _foreign_keys(body),
            )
        elif re.search(r"\bModel\b", symbol.signature) and "models." in body:
            fields = _DJANGO_FIELD.findall(body)
            table = re.search(r"\bdb_table\s*=\s*['\"]([^'\"]+)['\"]", body)
            refers = [
                target.strip(" '\"\n").rsplit(".", 1)[-1]
                for _, kind, target in fields
                if kind in ("ForeignKey", "OneToOneField", "ManyToManyField") and target
            ]
            yield Table(
                table[1] if table else symbol.name.lower(),
                tuple(name for name, _, _ in fields),
                path,
                symbol.start_line,
                "django",
                symbol.qualified,
                tuple(dict.fromkeys(refers)),
            )


def _calls(path: str, text: str) -> Iterator[Table]:
    """SQLAlchemy Core and Alembic: `Table("users", metadata, Column("id", …))`, `op.create_table("users", …)`."""
    for match in re.finditer(r"\b(?:Table|create_table)(\(\s*['\"](\w+)['\"])", text):
        body = _balanced(text, match.start(1))
        columns = re.findall(r"\bColumn\(\s*['\"](\w+)['\"]", body)
        if columns:
            yield Table(
                match[2], tuple(columns), path, line_at(text, match.start()), "sqlalchemy", refers=_foreign_keys(body)
            )


def _foreign_keys(body: str) -> tuple[str, ...]:
    keys = re.findall(r"\bForeignKey\(\s*['\"]([\w.]+)['\"]", body)
    return tuple(dict.fromkeys(key.rsplit(".", 1)[0].rsplit(".", 1)[-1] for key in keys))


def _balanced(text: str, opening: int) -> str:
    """The text between the bracket at `opening` and the one that closes it, or the end."""
    behind = text[opening + 1 : opening + _LONGEST]
    return behind[: closed_at(behind, "(", ")")]
