"""What a noun phrase of a task names: code, values, the kind of thing, and words that are neither. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.agents.editing.exact.exact_task import NamedPlace
from repopilot.agents.editing.exact.wording.lexicon import (
    DETERMINERS,
    FILLERS,
    OTHER_WHATS,
    PRONOUNS,
    UNITS,
    WHATS,
)
from repopilot.agents.editing.exact.wording.task_tokens import Token


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase.

    Attributes:
        names: names, paths and quoted texts.
        literals: numbers, versions, `True` and the like.
        whats: what it says it is, in order: keys of the lexicon's tables.
        words: other words, those that may be a name or describe one.
        fillers: adjectives that name nothing: `old`, `unused`.
        tokens: all.
    """

    names: tuple[Token, ...]
    literals: tuple[Token, ...]
    whats: tuple[str, ...]
    words: tuple[Token, ...]
    fillers: tuple[str, ...]
    tokens: tuple[Token, ...]

    @property
    def what(self) -> str:
        """The kind of definition that it says it is, '' for none."""
        return next((w for w in self.whats if w in _DEFINITIONS), "")

    @property
    def only_name(self) -> Token | None:
        """The one thing that it names: its name, or its only other word."""
        if len(self.names) == 1:
            return self.names[0]
        return self.words[0] if not self.names and len(self.words) == 1 and not self.literals else None

    @property
    def place(self) -> NamedPlace | None:
        """The one place that it names."""
        name = self.only_name
        tables = [t.text for t in self.literals if t.text[0] == "["]
        if not self.names and not self.words and len(tables) == 1:
            return NamedPlace(tables[0].strip("[]"), "table")
        if name is None or (self.described and not self._is_followed_by_its_kind):
            return None
        return NamedPlace(bare_name(name), self.what)

    @property
    def _is_followed_by_its_kind(self) -> bool:
        """`instance_of validator`: one word behind the one name only says what that is."""
        only = len(self.names) == 1 and len(self.words) == 1 and not self.literals
        return only and self.names[0].kind == "name" and self.words[0].start == self.names[0].end + 1

    @property
    def described(self) -> bool:
        """Whether words are left beside the name."""
        return bool(self.names) and bool(self.words)


_DEFINITIONS = frozenset(WHATS.values())


def bare_name(token: Token) -> str:
    """A name as it stands in code: without quotes, `()` and the sign of a mention."""
    name = (
        re.sub(r"(?<=[\w$])\([^()]*\)$", "", token.inner) if token.kind != "quoted" else token.inner.removesuffix("()")
    )
    return name.lstrip("@") if token.is_path else name


def noun_phrase(tokens: Sequence[Token]) -> NounPhrase:
    """Read a noun phrase.

    Args:
        tokens: of it.
    """
    names: list[Token] = []
    literals: list[Token] = []
    whats: list[str] = []
    words: list[Token] = []
    fillers: list[str] = []
    content = [t for t in tokens if t.kind != "sign" and not _only_joins(t)]
    for token in content:
        if token.kind in ("quoted", "path", "name"):
            names.append(token)
        elif token.kind == "literal":
            literals.append(token)
        elif what := "" if _may_be_a_name(token, content) else kind_of_word(token.low):
            whats.append(what)
        elif token.low in FILLERS | UNITS and not _may_be_a_name(token, content):
            fillers.append(token.low)
        else:
            words.append(token)
    last = content[-1] if content else None
    if last is not None and not (names or literals) and last.low in UNITS and last not in words:  # `the max retries`
        words.append(last)
    return NounPhrase(tuple(names), tuple(literals), tuple(whats), tuple(words), tuple(fillers), tuple(tokens))


def _only_joins(token: Token) -> bool:
    return token.kind == "word" and (token.low in DETERMINERS or token.low in PRONOUNS or token.low in _JOINING)


def _may_be_a_name(token: Token, content: Sequence[Token]) -> bool:
    """Whether a word that usually says what a thing is stands where its name does: `the class Name`, `to Options`."""
    if any(t.kind in ("quoted", "path", "name") for t in content):
        return False
    if len(content) == 1:
        plain = token.text.islower() and kind_of_word(token.low) not in ("", *_DEFINITIONS)
        return token.low not in _NEVER_NAMES and not plain
    if token is not content[-1]:
        after = kind_of_word(content[-1].low)
        certain = token.low.startswith(_PARAMETER)  # `the parameter field`, but `the key field`
        thing = kind_of_word(token.low) in _OFTEN_NAMES and token is content[-2] and not certain
        return thing and (after in ("parameter", "attribute") or (after in ("list", "dict") and token.low != "the"))
    before = content[-2]
    last = token is content[-1] and before.kind == "word" and kind_of_word(before.low) in _DEFINITIONS
    if last and before.low.startswith(_PARAMETER) and token.low in _NAMES_OF_PARAMETERS:
        return True
    odd = token.low in FILLERS | UNITS or token.text[:1].isupper()
    return last and odd and token.low not in _NEVER_NAMES and not token.low.startswith("inutil")


_OFTEN_NAMES = frozenset(
    ("symbol", "type", "key", "value", "text", "parameter", "line", "file", "member", "base", "version")
)
_PARAMETER = ("param", "arg")
_NAMES_OF_PARAMETERS = frozenset(
    "field fields key keys value values option options member line lines file text string attribute property module "
    "function class method package table symbol entry arguments args".split()
)
_NEVER_NAMES = frozenset(
    "default defaut file fichier function method class parameter argument module package import imports docstring "
    "version one it "
    "fonction methode classe parametre paquet instead everywhere there here too also accordingly again anymore "
    "exports export "
    "currently directly key entry member constant variable attribute field decorator comment value valeur string "
    "only".split()
)
_JOINING = frozenset("and or et ou & + - : ,".split())


def kind_of_word(word: str) -> str:
    """What a word says something is, a key of the lexicon; '' for other words."""
    for form in (word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y"):
        if form in WHATS:
            return WHATS[form]
        if form in OTHER_WHATS:
            return OTHER_WHATS[form]
    return ""
