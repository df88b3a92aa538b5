"""Recognises questions about when, why and by whom something was changed. Pure."""

from __future__ import annotations

import re
from typing import Literal

Asked = Literal["release", "when", "who", "why", "last"]

_CHANGED = (
    r"(?:add|introduc|remov|drop|chang|fix|bec[ao]m|renam|deprecat|appear|support|replac|creat|writ|wrote|"
    r"written|releas|merg|"
    r"implement|delet|mov|born|start|stop|first|last|updat|modif|rewrit|rewrote|refactor|switch|bump|upgrad|"
    r"turn|ship|land|gain|"
    r"lose|lost|abandon|migrat|split|extract|made|get|got|begin|began|available)\w*"
)
_CHANGÉ = (
    r"(?:ajout|introdui|supprim|retir|abandonn|chang|modifi|corrig|deven|renomm|appar|remplac|cré[ée]|écrit|"
    r"publi|déplac|"
    r"implément|pris en charge|support|mis à jour|réécrit|dépréci)\w*"
)
_RELEASE = re.compile(
    r"\b(?:in|since|as of|from|by|with) (?:which|what) (?:release|version)\b|"
    r"\b(?:which|what) (?:release|version)s? (?:\w+ ){0,3}?(?:first )?(?:added|introduced|removed|dropped|"
    r"fixed|changed|deprecated|brought|renamed)\b|"
    r"\b(?:dans|depuis|à partir de|avec|de) quelles? versions?\b|\bquelle version a\b",
    re.I,
)
_WHEN = re.compile(
    rf"^\W*(?:when|in (?:which|what) (?:year|month)|on (?:which|what) da(?:y|te)|since when|"
    rf"how long ago) (?:was|were|did|has|have|had)\b.*\b{_CHANGED}|"
    rf"\b(?:in|since) (?:which|what) (?:year|month)\b.*\b{_CHANGED}|\bsince when\b.*\b{_CHANGED}|"
    rf"^\W*(?:quand|en quelle année|depuis quand|à quelle date|quel jour)\b.*\b{_CHANGÉ}|\ben quelle année\b",
    re.I | re.S,
)
_WHO = re.compile(
    rf"^\W*who (?:has |have |had |originally |first |last )*(?:{_CHANGED}|authored|maintains|committed)\b|"
    rf"^\W*by whom\b.*\b{_CHANGED}|"
    rf"^\W*(?:what|which|whose) (?:commit|author|contributor|developer)s? (?:\w+ )?{_CHANGED}|"
    rf"^\W*(?:qui (?:a|ont)|par qui)\b.*\b{_CHANGÉ}|^\W*quel (?:commit|auteur) (?:a )?{_CHANGÉ}",
    re.I | re.S,
)
_WHY = re.compile(
    r"^\W*why (?:was|were|has|have|had)\b[^?]*\b(?:added|introduced|removed|dropped|changed|renamed|deprecated|"
    r"replaced|moved|"
    r"reverted|deleted|rewritten|refactored|switched|abandoned|split|made)\b|"
    r"^\W*why did (?:you|they|we|the (?:maintainers?|authors?|developers?|project|team))\b[^?]*\b(?:add|"
    r"introduce|remove|drop|change|"
    r"rename|deprecate|replace|move|revert|delete|rewrite|refactor|switch|abandon|split)\b|"
    r"^\W*pourquoi\b[^?]*\b(?:a|ont)(?:-t-(?:il|elle|on)|-(?:ils|elles))? (?:été )?(?:ajouté|introduit|supprimé|"
    r"retiré|abandonné|changé|"
    r"modifié|renommé|déprécié|remplacé|déplacé|annulé|réécrit)e?s?\b",
    re.I,
)
_LAST = re.compile(
    r"\bwhat (?:has |have |was |were )?(?:last |recently |lately )*changed (?:last|recently|lately|most recently)\b|"
    r"\bwhat (?:was|were) (?:the )?(?:last|latest|most recent) changes?\b|\b(?:last|latest|most recent|"
    r"newest) (?:\w+ )?(?:changes?|commits?|modifications?)\b|"
    r"\bwhen (?:was|were|did|has)\b.*\blast (?:been )?(?:changed?|modified|updated|touched|edited|change|modify)\b|"
    r"\bwho (?:last|most recently) (?:changed|modified|touched|edited|updated)\b|\brecent (?:changes|commits)\b|"
    r"\bchange history of\b|\bhistory of (?:the file|changes)\b|"
    r"\bderni[eè]re?s? (?:modifications?|changements?|commits?)\b|\bqu['’]est-ce qui a changé\b.*\b(?:récemment|"
    r"dernièrement|en dernier)\b|"
    r"\bmodifiée?s? (?:pour la )?(?:dernière fois|en dernier|récemment)\b",
    re.I | re.S,
)
FORM_WORDS = re.compile(
    r"\b(?:when|which|what|in|since|year|month|release[ds]?|versions?|commit(?:s|ted)?|who|why|whom|last|latest|"
    r"recent(?:ly)?|first|"
    r"originally|become|became|appear(?:ed)?|was|were|did|has|have|been|quand|quelle|année|mois|version|depuis|"
    r"dernière?s?|fois|"
    r"récemment|pourquoi|qui|été|changed?|changes|modifi\w+|history|maintainers?|authors?|time|ago|date|day|now|"
    r"project|"
    r"devenu\w*|deviennent|apparu\w*|projet|added?|introduced?|ajout\w+|introdui\w+)\b",
    re.I,
)
"""The words that only say that a change is asked for."""
BEGINS = re.compile(
    r"\b(?:add|introduc|becom|became|appear|first|creat|wr[io]t|start|born|support|ajout|introdui|deven|appar|"
    r"cré|écri|implement|since|depuis|available)\w*",
    re.I,
)
"""The words of a question about the first of several changes; else the newest is asked for."""


def asked_about(question: str) -> Asked | None:
    """Read what a question asks about a change; None where it asks nothing of the kind."""
    patterns: tuple[tuple[Asked, re.Pattern[str]], ...] = (
        ("release", _RELEASE),
        ("last", _LAST),
        ("when", _WHEN),
        ("who", _WHO),
        ("why", _WHY),
    )
    return next((asked for asked, pattern in patterns if pattern.search(question)), None)
