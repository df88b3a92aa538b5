"""Reads tasks about an option of a command line: `--workers should default to 4`. Pure."""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace

_FLAG = r"[`\"']?(?P<{}>--?[A-Za-z][\w-]*)[`\"']?"
_NOUN = r"(?:(?:command[- ]line )?(?:option|flag|switch|argument)s?)"
_COMMAND = (
    r"(?: (?:of|for|in|de|pour) (?:the |la commande )?(?:(?:command|subcommand) )?[`\"']?(?P<command>\w+)[`\"']?"
    r"(?: (?:command|subcommand))?)?"
)
_OPTION = rf"(?:(?:the|our|l['’]|le|la) ?)?(?:{_NOUN} )?{_FLAG.format('flag')}(?: {_NOUN})?{_COMMAND}"
_SHORT = r"[`\"']?(?P<alias>-[A-Za-z]|--[A-Za-z][\w-]*)[`\"']?"
_VALUE = r"(?P<value>[`\"'][^`\"']+[`\"']|-?\d[\w.]*|[\w./:-]*\w)"
_OLD = r"(?: from (?:[`\"'][^`\"']+[`\"']|[\w./:-]*\w))?"
_TEXT = r"(?P<value>[`\"'«].+[`\"'»])"
_SHOULD = r"(?:should|must|has to|needs to|ought to|doit|devrait)(?: now)?"
_OF = r"(?:of|for|de|d['’]|pour)"
_SET = (
    r"(?:set|change|make|raise|lower|increase|decrease|reduce|update|bump|switch|reword|rephrase|fixe[rz]?|change[rz]?|"
    r"mets|passe[rz]?)"
)
_PLACE = r"(?: (?:in|dans) (?:the )?[`\"']?(?P<path>[\w./-]+\.\w+)[`\"']?)?"
_SHORT_FORM = (
    r"(?:(?:a|an|the) )?(?:short(?:er|hand)?|one-letter|single-letter)(?: (?:form|option|flag|version|name|alias))?"
)
_ALIAS = rf"(?:{_SHORT_FORM}|(?:an? |the )?alias)"
_FORMS: tuple[tuple[str, str], ...] = (
    ("default", rf"{_SET} (?:the )?default(?: value)? {_OF} {_OPTION}{_OLD} to {_VALUE}"),
    ("default", rf"(?:make|let) {_OPTION} default to {_VALUE}"),
    (
        "default",
        rf"{_OPTION}(?:'s default(?: value)?)? (?:{_SHOULD} (?:default to|be)|defaults to) {_VALUE}(?: by default)?",
    ),
    ("default", rf"(?:the )?default(?: value)? {_OF} {_OPTION} {_SHOULD} be {_VALUE}"),
    ("default", rf"use {_VALUE} as (?:the )?default {_OF} {_OPTION}"),
    (
        "help",
        rf"{_SET} (?:the )?(?:help|help text|description|usage text) {_OF} {_OPTION}(?: from [\"'].+[\"'])? to {_TEXT}",
    ),
    ("help", rf"{_SET} {_OPTION}'s (?:help|help text|description) to {_TEXT}"),
    ("help", rf"{_OPTION}'s (?:help|help text|description) {_SHOULD} (?:read|say|be) {_TEXT}"),
    ("help", rf"(?:the )?(?:help|help text|description) {_OF} {_OPTION} {_SHOULD} (?:read|say|be) {_TEXT}"),
    ("alias", rf"add {_ALIAS},? {_SHORT},? (?:for|to) {_OPTION}"),
    ("alias", rf"add {_SHORT} as {_ALIAS} (?:for|of|to) {_OPTION}"),
    ("alias", rf"{_OPTION} {_SHOULD} (?:also |get |have )+{_ALIAS},? {_SHORT}"),
    ("alias", rf"(?:give|let) {_OPTION} (?:have )?{_ALIAS},? {_SHORT}"),
    ("alias", rf"(?:let |make ){_SHORT} (?:be )?{_ALIAS} (?:for|of) {_OPTION}"),
    ("rename", rf"(?:rename|renomme[rz]?) {_OPTION} (?:to|into|as|en) {_FLAG.format('value')}"),
    ("rename", rf"{_OPTION} {_SHOULD} be (?:called|named|renamed (?:to)?) ?{_FLAG.format('value')}"),
    ("required", rf"make {_OPTION} (?:required|mandatory)"),
    ("required", rf"{_OPTION} {_SHOULD} be (?:required|mandatory)"),
    ("optional", rf"make {_OPTION} optional"),
    (
        "optional",
        rf"{_OPTION} {_SHOULD} (?:be optional|not be (?:required|mandatory)|no longer be (?:required|mandatory))",
    ),
    (
        "choice",
        rf"add {_VALUE} (?:to|as (?:an? )?(?:choice|value) {_OF}) (?:the )?"
        rf"(?:(?:choices|values|allowed values) {_OF} )?{_OPTION}",
    ),
    ("choice", rf"{_OPTION} {_SHOULD} also (?:accept|allow|take|support) {_VALUE}"),
)
_READERS = tuple((kind, re.compile(form + _PLACE, re.I)) for kind, form in _FORMS)


def option_wish(task: str) -> list[ExactTask]:
    """What a task wants of an option, as a task of kind option_default, option_help, option_alias, option_rename,
    option_required, option_optional or option_choice: the option in `name`, the value, text or further spelling in
    `new`; [] for other tasks.

    Args:
        task: on one line.
    """
    text = task.strip().rstrip(".! ")
    for kind, form in _READERS:
        match = form.fullmatch(text)
        if match is not None:
            found = match.groupdict()
            new = (found.get("value") or found.get("alias") or "").strip()
            said = ((found["path"], "file"), (found["command"], "function"))
            places = tuple(NamedPlace(name, what) for name, what in said if name)
            return [ExactTask(f"option_{kind}", found["flag"], "option", new, places=places)]
    return []
