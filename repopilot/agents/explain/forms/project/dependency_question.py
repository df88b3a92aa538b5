"""Recognises questions about dependencies, versions and the licence. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Asked = Literal["all", "one", "version", "own version", "licence"]


@dataclass(frozen=True, slots=True)
class DependencyQuestion:
    """What is asked: for all dependencies (of `group`, '' for any), for the one that serves a purpose, for the version
    of `name`, for the project's own version, or for its licence. Of
    one, `name` is `package` where that may also mean a part of the code."""

    asked: Asked
    name: str = ""
    group: str = ""


_NOUN = r"(?:dependenc(?:y|ies)|librar(?:y|ies)|packages?|modules?|crates?|gems?|frameworks?)"
_NOM = r"(?:dépendances?|biblioth[eè]ques?|librairies?|paquets?|paquetages?|modules?|crates?|gemmes?|gems?)"
_SURE = r"(?:third[- ]?party|external|3rd[- ]party|npm|pip|pypi)"
_SUR = r"(?:tierces?|externes?)"
_THIS = r"(?:it|this|the (?:project|library|package|program|tool|app(?:lication)?|code|repo(?:sitory)?)|\w+)"

# Between the question word and "dependencies" stands nothing that could be what is asked for instead: "which class
# resolves the dependencies?" asks for a class.
_WHOSE = (
    r"(?:(?:are|is|all|of|the|its|their|your|our|this|these|my|me|direct|transitive|main|required|needed|declared|"
    r"run[- ]?time|dev(?:elopment)?|optional|build|test(?:ing)?|production|external|third[- ]?party|extra|other|"
    r"python|node|npm|pip|go|rust|cargo|ruby|java|maven|gradle|[\w-]+['’]s?|project|package|library)\s+)*"
)
_DE_QUI = (
    r"(?:(?:sont|est|toutes?|tous|les?|la|des?|du|ses|ces|tes|vos|nos|leurs|principales|autres|moi)\s+|l['’]|d['’])*"
)
_ALL = re.compile(
    rf"^\W*(?:which|what|list|show|name|give)\s+{_WHOSE}(?:{_SURE}\s+)?dependencies\b(?P<rest>[^.?]*)|"
    rf"^\W*(?:what|which {_NOUN}) (?:does|do|is) {_THIS}(?: \w+)? (?:depend|rely|based) (?:up)?on\b(?P<rest2>[^.?]*)|"
    rf"^\W*(?:which|what|list)\b (?:all )?(?:the )?{_SURE} {_NOUN} (?:does|do) {_THIS} (?:use|need|require|depend on)\b"
    rf"(?P<rest3>[^.?]*)|"
    rf"^\W*(?:quelles?|quels?|liste[rz]?|donne[rz]?(?:-moi)?|"
    rf"montre[rz]?(?:-moi)?)\s+{_DE_QUI}dépendances\b(?P<rest4>[^.?]*)|"
    rf"^\W*de quoi dépend\b(?P<rest5>[^.?]*)|"
    rf"^\W*de quelles {_NOM}(?: {_SUR})? dépend\b(?P<rest6>[^.?]*)",
    re.I,
)
_NOTHING_MORE = re.compile(
    r"^\W*(?:(?:are|is|does|do|of|for|by|the|this|that|it|its|in|at|have|has|need|needs|needed|require[sd]?|use[sd]?|"
    r"declared?|listed?|there|project|package|library|program|tool|repo(?:sitory)?|app(?:lication)?|code|"
    r"runtime|run time|"
    r"dev(?:elopment)?|optional|direct|test(?:s|ing)?|build|to|run|work|install(?:ed)?|must|be|I|you|we|"
    r"a|le|la|les|l|ce|cet|cette|du|de|des|projet|dépôt|bibliothèque|programme|outil|sont|est|il|elle|paquet|"
    r"faut|pour|d|exécution|développement|optionnelles?|facultatives?|directes?|déclarées?|nécessaires?|"
    r"requises?)\b\W*)*$",
    re.I,
)
_ONE = re.compile(
    rf"\b{_SURE}\s+(?:\w+\s+)?{_NOUN}\b|"
    rf"\b(?:which|what)\s+(?:optional |extra |additional |dev(?:elopment)? )?(?:librar(?:y|ies)|crates?|gems?|"
    rf"dependency|dependencies)\b"
    rf"(?!\s+(?:functions?|methods?|class(?:es)?|versions?|calls?|code|files?|modules?|names?))|"
    rf"\b(?:which|what)\s+(?:optional |extra |additional |npm |python |go |pip )?(?:packages?|"
    rf"modules?)\b[^.?]*\b(?:install(?:ed)?|rel(?:y|ies)|depends?|"
    rf"pull(?:s|ed)? in)\b|"
    rf"\bon (?:which|what) {_NOUN}\b[^.?]*\b(?:rel(?:y|ies)|depends?|based|built)\b|"
    rf"\b{_NOM}\s+{_SUR}\b|"
    rf"\bquell?e?s?\s+(?:biblioth[eè]ques?|librairies?|crates?|gemmes?|dépendances?)\b|"
    rf"\b(?:de|sur|avec) quell?e?s? {_NOM}\b[^.?]*\b(?:dépend|repose|appuie|base)\w*|"
    rf"\bquell?e?s? paquets?\b[^.?]*\b(?:install\w+|dépend\w*)",
    re.I,
)
_VERSION = re.compile(
    r"\b(?:which|what|(?:minimum|minimal|min|oldest|lowest|earliest|required|supported)(?: supported| required)?)\s+"
    r"(?:(?:minimum|minimal|oldest|lowest|"
    r"earliest)\s+)?(?:supported\s+)?(?:versions? of (?:the )?(?P<of>[\w.+#@/-]+)|(?P<before>[\w.+#@/-]+) versions?\b)|"
    r"\bquelles? versions? (?:minimales? |minimum )?(?:de |du |d['’]\s?)(?:la )?(?P<de>[\w.+#@/-]+)|"
    r"\bversions? (?:minimales?|minimum) (?:de |du |d['’]\s?)(?P<de2>[\w.+#@/-]+)|"
    r"\b(?P<msrv>MSRV)\b",
    re.I,
)
_PACKAGE = re.compile(r"^\W*(?:which|what) (?:npm )?package (?:does|do|is|\w+s)\b|^\W*quel paquet\b", re.I)
_OWN = re.compile(
    r"^\W*(?:what|which)(?: is|'s)? (?:the )?(?:current |latest |own )?version(?: number)?(?: of (?:this|the) "
    r"(?:project|package|library|program|tool|crate|gem|module|repo(?:sitory)?|app(?:lication)?))?"
    r"(?: is (?:this|it|the (?:project|package|library|program|tool|code)))?\W*$|"
    r"^\W*(?:quelle est la version(?: actuelle)?|de quelle version s['’]agit-il)(?: (?:du|de la|de ce|de cette|"
    r"de l['’])"
    r"\s?(?:projet|paquet|bibliothèque|programme|outil|application))?\W*$",
    re.I,
)
_LICENCE = re.compile(
    r"\b(?:what|which|under (?:what|which))\b[^.?]{0,30}\blicen[cs]e|\blicen[cs]ed? (?:under|of this|of the)|"
    r"\bhow is (?:it|this|the \w+) licen[cs]ed|\b(?:quelle|sous quelle)\b[^.?]{0,20}\blicence\b",
    re.I,
)
_WAY = re.compile(r"^\W*(?:how|why|when|comment|pourquoi|quand)\b", re.I)
"""Begins a question for the way a version is chosen or used, which no manifest says."""
_GROUPS = {
    "dev": re.compile(r"\bdev(?:elopment)?\b|\btest(?:s|ing)?\b|\bdéveloppement\b", re.I),
    "optional": re.compile(r"\boptional\b|\boptionnelles?\b|\bfacultatives?\b", re.I),
    "runtime": re.compile(r"\bruntime\b|\brun[- ]time\b|\bà l['’]exécution\b|\bexécution\b", re.I),
    "build": re.compile(r"\bbuild\b", re.I),
}
FORM_WORDS = re.compile(
    rf"\b(?:{_SURE}|{_NOUN}|{_NOM}|{_SUR}|install\w*|rel(?:y|ies)|depends?|dépend\w*|repose\w*|requires?d?|"
    rf"needs?|needed|"
    r"optional|extra|additional|must|has|before|serve[sd]?|sert|quelles?|quels?|which|what)\b",
    re.I,
)
"""The words that only say that a dependency is asked for."""


def read_question(question: str) -> DependencyQuestion | None:
    """Read what a question asks about dependencies, versions or the licence; None where it asks nothing of the kind."""
    if _OWN.search(question):
        return DependencyQuestion("own version")
    if _LICENCE.search(question):
        return DependencyQuestion("licence")
    version = _VERSION.search(question)
    if version and not _WAY.match(question):
        return DependencyQuestion("version", next(filter(None, version.groups())))
    everything = _ALL.search(question)
    if everything and _NOTHING_MORE.match(next((rest for rest in everything.groups() if rest), "")):
        group = next((name for name, pattern in _GROUPS.items() if pattern.search(question)), "")
        return DependencyQuestion("all", group=group)
    if _ONE.search(question) or (everything and not re.search(r"\b(?:between|among|entre)\b", question)):
        return DependencyQuestion("one")
    return DependencyQuestion("one", "package") if _PACKAGE.search(question) else None
