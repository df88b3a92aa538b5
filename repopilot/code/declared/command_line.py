"""Options and subcommands that code declares for the command line, in the ways of common libraries. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from repopilot.code.declared.declaration import BUILD, Declaration, LineNumbers, closing
from repopilot.code.declared.python_command_line import flags, read_python

WORDS = (
    "add_argument add_option add_parser click typer clap cobra pflag flag flags commander yargs thor optionparser "
    "optparse getopt getopt_long picocli jcommander addoption argh structopt argp cmake option urfave"
).split()
"""Words one of which stands in every text that declares options or commands."""

_STRING = re.compile(r"(?:r|b|u|f)?(\"(?:[^\"\\\n]|\\.|\\\n)*\"|'(?:[^'\\\n]|\\.|\\\n)*')")
_FLAG = re.compile(r"^--?[A-Za-z0-9?#][\w.:-]*$")
_HELP = re.compile(
    r"\b(?:help|description|usage|describe|desc|about)\s*[=:]\s*\(?\s*(?:_\(|"
    r"gettext\()?((?:(?:\"(?:[^\"\\\n]|\\.|\\\n)*\"|'(?:[^'\\\n]|\\.|\\\n)*')\s*)+)"
)


def options(path: str, text: str, language: str) -> list[Declaration]:
    """The options that a text declares, in its order; `owner` is their command or parser, where that can be told."""
    return _read(path, text, language)[0]


def commands(path: str, text: str, language: str) -> list[Declaration]:
    """The subcommands that a text declares, in its order."""
    return _read(path, text, language)[1]


def of_command(command: str, declared: Sequence[Declaration]) -> tuple[list[Declaration], list[str]]:
    """The options of a command with those that it shares with others.

    Args:
        command: its name.
        declared: options of all files.

    Returns:
        The options, and the names of what may add more but isn't declared in these files.
    """
    by_owner: dict[str, list[Declaration]] = {}
    for item in declared:
        by_owner.setdefault(item.owner, []).append(item)
    found: list[Declaration] = []
    elsewhere: list[str] = []
    waiting, seen = [command], {command}
    while waiting:
        for item in by_owner.get(waiting.pop(0), ()):
            if not item.name.startswith("@"):
                found.append(replace(item, owner=command))
            elif item.name in by_owner and item.name not in seen:
                waiting.append(item.name)
                seen.add(item.name)
            elif item.name not in by_owner and _ADDS_OPTIONS.search(item.name):
                elsewhere.append(item.name)
    return found, list(dict.fromkeys(elsewhere))


def unshared(declared: Iterable[Declaration]) -> list[Declaration]:
    """Each option once: those that commands share belong to none."""
    return [replace(d, owner="") if d.owner.startswith("@") else d for d in declared if not d.name.startswith("@")]


_ADDS_OPTIONS = re.compile(r"opt(?:ion)?s?(?:_|$)|arg(?:ument)?s?(?:_|$)|param|flag", re.I)


_Found = Iterator[tuple[int, str, str, str, str, str]]
"""(position, kind, name, help, owner, other spellings)"""


def _read(path: str, text: str, language: str) -> tuple[list[Declaration], list[Declaration]]:
    reader = _READERS.get(language)
    if reader is None:
        return [], []
    lines = LineNumbers(text)
    found: tuple[list[Declaration], list[Declaration]] = ([], [])
    for at, kind, name, help_, owner, form in sorted(reader(text)):
        found[kind == "command"].append(
            Declaration(
                name, path, lines.at(at), " ".join(_UNESCAPED.sub(_unescaped, help_).split())[:200], owner, form
            )
        )
    return found


_LONGEST_HELP = 200
_UNESCAPED = re.compile(r"\\(\n\s*|n|t|.)", re.S)


def _in_one_line(help_: str) -> str:
    text = " ".join(_UNESCAPED.sub(_unescaped, help_).split())
    return text if len(text) <= _LONGEST_HELP else text[: _LONGEST_HELP - 1] + "…"


def _unescaped(match: re.Match[str]) -> str:
    return " " if match[1] in "nt" else match[1].strip()


def _strings(text: str) -> list[str]:
    return [match[1][1:-1] for match in _STRING.finditer(text)]


def _leading_strings(text: str) -> list[str]:
    """The strings that a list of arguments begins with."""
    head = re.match(rf"\s*(?:{_STRING.pattern}\s*,?\s*)+", text)
    return _strings(head[0]) if head else []


def _help_in(text: str) -> str:
    found = _HELP.search(text)
    return "".join(_strings(found[1])) if found else ""


def _python(text: str) -> _Found:
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    for line, kind, name, help_, owner, form in read_python(text):
        yield starts[line - 1], kind, name, help_, owner, form


def _go(text: str) -> _Found:
    flag = (
        r"\b(?:flag|\w*[fF]lags?|\w*[fF]lags?\(\)|fs|set|pflag)\.(?:Bool|Count|Duration|Float\d*|Int\d*|Uint\d*|"
        r"String|StringSlice|StringArray|"
        r"IntSlice|StringToString|Text|Func|IP|Var)(Var)?(P)?(?:VarP)?\("
    )
    for match in re.finditer(flag, text):
        arguments = text[match.end() : closing(text, match.end() - 1)]
        strings = _strings(arguments)
        if strings and re.fullmatch(r"[\w.-]+", strings[0]):
            short = strings[1] if match[2] and len(strings) > 2 and len(strings[1]) == 1 else ""
            dashes = "--" if "pflag" in text or "cobra" in text else "-"
            yield (
                match.start(),
                "option",
                f"{dashes}{strings[0]}",
                strings[-1] if len(strings) > 1 else "",
                "",
                f"-{short}" if short else "",
            )
    for match in re.finditer(r"\bUse:\s*\"([\w-]+)", text):
        about = re.search(r"\bShort:\s*\"([^\"]*)", text[match.start() : match.start() + 600])
        yield match.start(), "command", match[1], about[1] if about else "", "", ""


def _rust(text: str) -> _Found:
    for match in re.finditer(
        r"((?:^[^\S\n]*///[^\n]*\n)*)((?:^[^\S\n]*#\[[^\n]*\n)*?)^[^\S\n]*#\[(?:arg|clap|structopt)\(", text, re.M
    ):
        end = closing(text, match.end() - 1)
        inside = text[match.end() : end]
        field = re.match(r"\)?\]\s*(?:#\[[^\n]*\]\s*|///[^\n]*\s*)*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:", text[end:])
        if field and (flag := _rust_flag(inside, field[1])):
            described = " ".join(re.findall(r"///\s?([^\n]*)", match[1] + match[2])) or _help_in(inside)
            yield text.index("#[", match.end(2)), "option", flag[0], described, "", flag[1]
    for match in re.finditer(r"\b(?:Arg|clap::Arg)::(?:new|with_name)\(\s*\"([^\"]+)\"\s*\)", text):
        rest = text[match.end() : match.end() + 600].split("Arg::", 1)[0]
        long, short = re.search(r"\.long\(\s*\"([^\"]+)", rest), re.search(r"\.short\(\s*['\"](.)", rest)
        names = [f"--{long[1]}"] if long else []
        names += [f"-{short[1]}"] if short else []
        help_ = re.search(rf"\.(?:help|about)\(\s*{_STRING.pattern}", rest)
        told = help_[1][1:-1] if help_ else ""
        yield match.start(), "option", (names or [match[1]])[0], told, "", ", ".join(names[1:])
    for match in re.finditer(r"derive\([^)]*\bSubcommand\b[^)]*\)\][^{]*\{", text):
        end = closing(text, match.end() - 1)
        for variant in re.finditer(
            r"((?:^[^\S\n]*///[^\n]*\n)*)(?:^[^\S\n]*#\[[^\n]*\n)*^    ([A-Z]\w*)\b", text[match.end() : end], re.M
        ):
            name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", variant[2]).lower()
            help_text = " ".join(re.findall(r"///\s?([^\n]*)", variant[1]))
            yield match.end() + variant.start(2), "command", name, help_text, "", ""
    for match in re.finditer(
        r"\.subcommand\(\s*(?:Command|App|SubCommand|clap::Command)::(?:new|with_name)\(\s*\"([^\"]+)", text
    ):
        yield match.start(), "command", match[1], "", "", ""


def _rust_flag(inside: str, field: str) -> tuple[str, str] | None:
    """(name, other spellings) of a field with these arguments of its attribute; None for one that is no flag."""
    long = re.search(r"\blong\b(?:\s*=\s*\"([^\"]+)\")?", inside)
    short = re.search(r"\bshort\b(?:\s*=\s*['\"](.)['\"])?", inside)
    names = [f"--{long[1] or field.replace('_', '-')}"] if long else []
    names += [f"-{short[1] or field[0]}"] if short else []
    return (names[0], ", ".join(names[1:])) if names else None


def _javascript(text: str) -> _Found:
    if re.search(r"commander|yargs|cac\b|sade|oclif|\bprogram\b", text):
        for match in re.finditer(
            r"\.(?:requiredOption|option)\(\s*[\"'`]([^\"'`]+)[\"'`]\s*(?:,\s*[\"'`]([^\"'`]*))?", text
        ):
            names = [part for part in re.split(r"[,|\s]+", match[1]) if part.startswith("-")]
            inside = text[match.end() : match.end() + 300]
            name, form = flags(names) if names else (f"--{match[1]}", "")
            yield match.start(), "option", name, match[2] or _help_in(inside), "", form
        for match in re.finditer(r"\.command\(\s*[\"'`]([\w:-]+)[^\"'`]*[\"'`]\s*(?:,\s*[\"'`]([^\"'`]*))?", text):
            yield match.start(), "command", match[1], match[2] or "", "", ""


def _ruby(text: str) -> _Found:
    for match in re.finditer(r"\b\w+\.on\(?\s*((?:[\"'][^\"'\n]*[\"']\s*,?\s*)+)", text):
        strings = _strings(match[1])
        names = [re.split(r"[ =\[]", name)[0] for name in strings if name.startswith("-")]
        if names:
            name, form = flags(names)
            yield match.start(), "option", name, " ".join(s for s in strings if not s.startswith("-")), "", form
    if re.search(r"\bThor\b", text):
        for match in re.finditer(r"^[^\S\n]*(?:method_option|class_option|option)\s+:(\w+)([^\n]*)", text, re.M):
            yield match.start(), "option", f"--{match[1].replace('_', '-')}", _help_in(match[2]), "", ""
        for match in re.finditer(r"^[^\S\n]*desc\s+[\"']([\w:-]+)[^\"']*[\"']\s*,\s*[\"']([^\"']*)", text, re.M):
            yield match.start(), "command", match[1], match[2], "", ""


def _java(text: str) -> _Found:
    for match in re.finditer(r"@(?:CommandLine\.)?(?:Option|Parameter)\(", text):
        inside = text[match.end() : closing(text, match.end() - 1)]
        named = re.search(r"names\s*=\s*(\{[^}]*\}|\"[^\"]*\")", inside)
        names = [name for name in _strings(named[1]) if _FLAG.match(name)] if named else []
        if names:
            name, form = flags(names)
            yield match.start(), "option", name, _help_in(inside), "", form


def _c(text: str) -> _Found:
    if "getopt" in text or "argp" in text:
        pattern = r"\{\s*\"([\w-]+)\"\s*,\s*(?:no_argument|required_argument|optional_argument|[012]|'.')\s*,"
        for match in re.finditer(pattern, text):
            yield match.start(), "option", f"--{match[1]}", "", "", ""


def _cmake(text: str) -> _Found:
    for match in re.finditer(
        r"^[^\S\n]*(?:option|cmake_dependent_option|set_option)\s*\(\s*(\w+)\s*(?:\"([^\"]*)\")?", text, re.M | re.I
    ):
        yield match.start(1), "option", match[1], match[2] or "", BUILD, ""


_READERS = {
    "python": _python,
    "go": _go,
    "rust": _rust,
    "javascript": _javascript,
    "typescript": _javascript,
    "ruby": _ruby,
    "java": _java,
    "kotlin": _java,
    "c": _c,
    "cpp": _c,
    "cmake": _cmake,
}
