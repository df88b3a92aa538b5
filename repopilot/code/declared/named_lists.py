"""Lists of names that code declares: enumerations, unions of literals, tables, constants, compared literals. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from repopilot.code.declared.declaration import LineNumbers, closing

FEWEST, MOST = 2, 60
"""Members of a list."""
_LONGEST_TEXT = 400_000


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a list with its line and what its declaration says about it, '' for nothing."""

    name: str
    line: int
    help: str = ""


@dataclass(frozen=True, slots=True)
class NamedList:
    """A list of names. `name` is what it is bound to, '' for nothing; `about` the comment before it."""

    name: str
    path: str
    start_line: int
    end_line: int
    members: tuple[Member, ...]
    about: str = ""


_ENUM = re.compile(
    r"^[ \t]*(?:[\w()]+[ \t]+)*?(?:enum(?:[ \t]+(?:class|struct))?|interface|"
    r"(?:@interface))\b[ \t]*(?P<name>\w*)[^{;=\n]*(?P<open>\{)|"
    r"^[ \t]*(?:export[ \t]+)?type[ \t]+(?P<type>\w+)(?:<[^=\n]*>)?[ \t]*=[ \t]*(?P<brace>\{)",
    re.M,
)
_UNION = re.compile(
    r"\btype\s+(?P<name>\w+)[^=\n]*=\s*(?P<union>(?:\|?\s*(?:'[^'\n]*'|\"[^\"\n]*\")\s*(?:\|\s*)?){2,})|"
    r"\b(?P<python>\w+)\s*(?::[^=\n]*)?=\s*(?:\w+\.)?Literal\[(?P<literal>[^\]]*)\]",
)
_PYTHON_ENUM = re.compile(
    r"^class\s+(?P<name>\w+)\([^)]*\b\w*(?:Enum|Flag|Choices)\b[^)]*\):(?P<body>(?:\n(?:[ \t]+[^\n]*|[ \t]*))+)", re.M
)
_BOUND = re.compile(
    r"(?<![\w.$])(?P<name>[A-Za-z_$][\w.$]*)[ \t]*(?::[^=\n{}\[\]()]{0,60}(?:\[[^\]\n]*\])?[ \t]*)?(?::=|=>|"
    r"=(?![=>])|:(?=[ \t]*[\[{]))[ \t]*(?=[^\n]*[\[{(])"
)
_GO_BLOCK = re.compile(r"^const\s*\((?P<body>.*?)^\)", re.M | re.S)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\S[^\n]*", re.M)
_WORDS = re.compile(
    r"(?P<name>\w+)\s*=\s*%[wi][\[({](?P<words>[^\])}]*)[\])}]|"
    r"(?P<split>\w+)\s*=\s*(?:frozenset\(|set\(|"
    r"tuple\()?\s*[\"']{1,3}(?P<text>[\w\s.-]+)[\"']{1,3}\.split\("
)
_BLOCK_COMMENT = re.compile(r"(?<![\"'\w*/])/\*.*?\*/", re.S)
_LITERAL = r"(?:\"([^\"\n]{1,60})\"|'([^'\n]{1,60})')"
_COMPARED = re.compile(
    rf"\bcase[ \t]+((?:b?{_LITERAL}[ \t]*,?\s*)+):|\bwhen[ \t]+((?:{_LITERAL}[ \t]*,?[ \t]*)+)|(?:==|===|"
    rf"\bis)[ \t]*{_LITERAL}|"
    rf"\bstrn?(?:case)?cmp\([^\n]*?(?:\([^\n()]*\))?{_LITERAL}|^[ \t]*((?:{_LITERAL}[ \t]*\|?[ \t]*)+)=>|"
    rf"\.equals\({_LITERAL}\)",
    re.M,
)
_STRING = re.compile(rf"b?{_LITERAL}")


def named_lists(path: str, text: str, language: str) -> list[NamedList]:
    """The lists of names that a text declares, in its order.

    Args:
        path: the file.
        text: its text.
        language: its language.
    """
    if len(text) > _LONGEST_TEXT:
        return []
    reader = _Reader(path, text, language)
    found = [*reader.enumerations(), *reader.unions(), *reader.tables(), *reader.constants(), *reader.words()]
    return sorted((item for item in found if FEWEST <= len(item.members) <= MOST), key=lambda item: item.start_line)


def compared_literals(path: str, text: str, first_line: int) -> NamedList | None:
    """The string literals that a function compares something with; None where they are fewer than three.

    Args:
        path: the file.
        text: the function.
        first_line: the number of its first line.
    """
    lines = LineNumbers(text)
    members: dict[str, Member] = {}
    for match in _COMPARED.finditer(text):
        for string in _STRING.finditer(match[0]):
            name = string[1] or string[2]
            members.setdefault(name, Member(name, first_line + lines.at(match.start() + string.start()) - 1))
    if not 3 <= len(members) <= MOST:
        return None
    found = tuple(members.values())
    return NamedList("", path, found[0].line, found[-1].line, found)


class _Reader:
    """Reads one text."""

    def __init__(self, path: str, text: str, language: str) -> None:
        self._path, self._language = path, language
        self._text = _BLOCK_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self._lines = LineNumbers(text)
        self._rows = text.split("\n")

    def enumerations(self) -> Iterator[NamedList]:
        if self._language == "python":
            for match in _PYTHON_ENUM.finditer(self._text):
                rows = re.finditer(r"^[ \t]+([A-Za-z]\w*)[ \t]*(?::[^=\n]*)?=[ \t]*([^\n]*)", match["body"], re.M)
                members = [self._member(r[1], match.start("body") + r.start(1), r[2]) for r in rows]
                yield self._list(match["name"], match.start(), match.end() - 1, members)
            return
        for match in _ENUM.finditer(self._text):
            if "interface" in match[0] and self._language not in ("typescript", "tsx"):
                continue
            opening = match.start("open") if match["open"] else match.start("brace")
            end = closing(self._text, opening)
            name = match["name"] or match["type"] or self._typedef(end)
            yield self._list(name, match.start(), end, self._braced(opening + 1, end))

    def _typedef(self, end: int) -> str:
        found = re.match(r"\}\s*(\w+)", self._text[end : end + 60])
        return found[1] if found else ""

    def _braced(self, start: int, end: int) -> list[Member]:
        members, about = [], ""
        for at, part in _parts(self._text, start, end, ",;\n"):
            comment = re.match(r"\s*(?:///?|/?\*+|#)\s?(.*)", part)
            if comment and not part.lstrip().startswith("#["):
                about = f"{about} {comment[1].strip('*/ ')}".strip()
                continue
            found = re.match(
                r"\s*(?:(?:#|@)[\[\w][^\n]*?[\])]\s+)*(?:case\s+|readonly\s+|public\s+)*[\"']?([A-Za-z_$][\w$-]*)[\"']?",
                part,
            )
            if found and not part.strip().startswith(("#[", "@", "}", ")")):
                members.append(self._member(found[1], at + found.start(1), about))
                about = ""
        return members

    def unions(self) -> Iterator[NamedList]:
        for match in _UNION.finditer(self._text):
            part = "union" if match["union"] else "literal"
            strings = _STRING.finditer(match[part])
            members = [self._member(s[1] or s[2], match.start(part) + s.start()) for s in strings]
            yield self._list(match["name"] or match["python"], match.start(), match.end(), members)

    def tables(self) -> Iterator[NamedList]:
        """What is bound to a literal of strings, or of strings or names with values."""
        for match in _BOUND.finditer(self._text):
            row_end = self._text.find("\n", match.end())
            row_end = len(self._text) if row_end < 0 else row_end
            for opening in re.finditer(r"[\[{(]", self._text[match.end() : min(row_end, match.end() + 100)]):
                start = match.end() + opening.start()
                end = closing(self._text, start)
                members = [] if self._is_call(start) else self._items(start + 1, end)
                if len(members) >= FEWEST:
                    yield self._list(match["name"], match.start(), end, members)
                    break

    def _is_call(self, opening: int) -> bool:
        """Whether a bracket holds the keyword arguments of a call, which are no list of anything."""
        if self._language != "python" or self._text[opening] != "(":
            return False
        called = re.search(r"(\w+)\s*$", self._text[max(0, opening - 60) : opening])
        argument = re.match(r"\s*\w+\s*=(?!=)", self._text[opening + 1 : opening + 80])
        return called is not None and called[1] != "dict" and argument is not None

    def _items(self, start: int, end: int) -> list[Member]:
        """The strings, keys and names of a literal; none where too much of it is something else."""
        members, others, about = [], 0, ""
        for at, part in _parts(self._text, start, end, ","):
            code = re.sub(r"^(?:\s*(?://|#)[^\n]*\n)+", lambda m: " " * len(m[0]), part)
            found = re.match(rf"\s*(?:{_LITERAL}|:?([A-Za-z_$][\w$.]*))\s*(:(?!:)|=>|=(?!=)|$)([^\n]*)", code)
            keyed = found is not None and (found[4] != "" or found[3] is None or self._text[start - 1] == "[")
            if found and keyed:
                name = found[1] or found[2] or found[3]
                about = " ".join(found[5].split())[:80]
                members.append(self._member(name, at + found.start(1 if found[1] else 2 if found[2] else 3), about))
            elif code.strip() and not code.strip().startswith(("//", "#", "...", "**", "*")):
                others += 1
        return members if len(members) > 2 * others else []

    def constants(self) -> Iterator[NamedList]:
        for block in _GO_BLOCK.finditer(self._text) if self._language == "go" else ():
            rows = re.finditer(r"^[^\S\n]*([A-Za-z]\w*)\b([^\n]*)", block["body"], re.M)
            members = [self._member(r[1], block.start("body") + r.start(1), r[2].strip()) for r in rows]
            kind = re.search(r"^[^\S\n]*\w+\s+(\w+)\s*=", block["body"], re.M)
            yield self._list(kind[1] if kind else "", block.start(), block.end(), members)
        if self._language in ("c", "cpp"):
            yield from self._defines()

    def _defines(self) -> Iterator[NamedList]:
        """Runs of lines that define macros of a common prefix."""
        run: list[re.Match[str]] = []
        matches = list(_DEFINE.finditer(self._text))
        for match, following in pairwise([*matches, None]):
            assert match is not None
            run.append(match)
            joined = following is not None and self._lines.at(following.start()) - self._lines.at(match.start()) <= 1
            if not joined or following is None or _prefix(match[1]) != _prefix(following[1]):
                if len(run) >= 3:
                    members = [self._member(m[1], m.start(1), m[0].partition(m[1])[2].strip()) for m in run]
                    yield self._list(_prefix(run[0][1]), run[0].start(), run[-1].end(), members)
                run = []

    def words(self) -> Iterator[NamedList]:
        if not re.search(r"%[wi][\[({]|[\"']\.split\(", self._text):
            return
        for match in _WORDS.finditer(self._text):
            part = "words" if match["words"] is not None else "text"
            found = re.finditer(r"\S+", match[part])
            members = [self._member(w[0], match.start(part) + w.start()) for w in found]
            yield self._list(match["name"] or match["split"], match.start(), match.end(), members)

    def _member(self, name: str, at: int, help_: str = "") -> Member:
        return Member(name, self._lines.at(at), " ".join(help_.split()).strip(" =,;")[:120])

    def _list(self, name: str, start: int, end: int, members: list[Member]) -> NamedList:
        first = self._lines.at(start)
        unique: dict[str, Member] = {}
        for member in members:
            unique.setdefault(member.name, member)
        ordered = tuple(unique.values())
        return NamedList(
            name, self._path, first, self._lines.at(min(end, len(self._text))), ordered, self._about(first)
        )

    def _about(self, line: int) -> str:
        """The comment right above a line."""
        found: list[str] = []
        for row in reversed(self._rows[max(0, line - 9) : line - 1]):
            comment = re.match(r"\s*(?:///?!?|/?\*+|#(?!\[|define|include|if|end)|--)\s?(.*)", row)
            if comment is None and not re.match(r"\s*(?:#\[|@)", row):
                break
            found.append(comment[1].strip("*/ ") if comment else "")
        return " ".join(reversed(found)).strip()


def _prefix(name: str) -> str:
    return name.partition("_")[0]


def _parts(text: str, start: int, end: int, separators: str) -> Iterator[tuple[int, str]]:
    """(position, text) of the parts between separators that stand in no bracket and no string."""
    at = begin = start
    while at < end:
        character = text[at]
        if character in "([{":
            at = min(closing(text, at), end)
        elif character in "\"'`":
            at = max(at, min(_string_end(text, at, end), end))
        elif character in separators:
            yield begin, text[begin:at]
            begin = at + 1
        elif text.startswith("//", at) and text[max(0, at - 1)] != ":":
            line_end = text.find("\n", at)
            at = (end if line_end < 0 else min(line_end, end)) - 1
        at += 1
    yield begin, text[begin:end]


def _string_end(text: str, at: int, end: int) -> int:
    found = re.compile(re.escape(text[at]) + rf"(?:[^\\\n{re.escape(text[at])}]|\\.)*" + re.escape(text[at])).match(
        text, at, end
    )
    return found.end() - 1 if found else at
