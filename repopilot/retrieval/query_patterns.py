"""Patterns that tell what a query asks for, in English and French. Each alternative is one way of saying it."""

from __future__ import annotations

import re


def _any(*alternatives: str, start: str = r"\b", end: str = r"\b") -> re.Pattern[str]:
    return re.compile(f"{start}(?:{'|'.join(alternatives)}){end}", re.I | re.M)


_THIS = r"(?:this|the)"
_WHOLE = r"(?:project|repo(?:sitory)?|code ?base|code|package|library|app(?:lication)?|tool|program|server)"
_CE = r"(?:ce|cet|cette|le|la|l'|du|de ce|de cette|de la|de l')"
_TOUT = r"(?:projet|dépôt|repo|base de code|code|bibliothèque|application|appli|outil|programme|serveur)"
_SHAPE = r"(?:overview|summary|structure|architecture|layout|outline|organi[sz]ation|big picture|tech(?:nology)? stack)"
_FORME = r"(?:structure|architecture|organisation|vue d'ensemble|aperçu|résumé)"
_BUILT = r"(?:structured|organi[sz]ed|laid out|built|split|architected)"
_RUN = r"(?:run|start|launch|install|build|set ?up|use|try|deploy)"
_LANCER = r"(?:lancer|exécuter|démarrer|installer|utiliser|déployer|construire|compiler)"

WHOLE = _any(
    rf"what(?: is|'s| does| are)? {_THIS} {_WHOLE}(?: (?:do|about|(?:used )?for|all about))*\s*[?.!]?\s*$",
    r"what (?:is|does) (?:it|this)(?: all)?(?: about| do| for)?\s*\??$",
    rf"{_SHAPE} of {_THIS} (?:whole |entire )?{_WHOLE}\b",
    rf"{_THIS} {_WHOLE}(?:'s)? {_SHAPE}\b",
    rf"^(?:project|repo(?:sitory)?|code ?base) {_SHAPE}\b",
    rf"how (?:is|are) (?:it|this|{_THIS} {_WHOLE}) {_BUILT}\b",
    rf"how (?:do|can|to|does one|should)(?: (?:i|we|you|one))? {_RUN} (?:it|this|{_THIS} {_WHOLE})\b",
    r"how do i get started\b",
    r"^getting started\s*\??$",
    r"where (?:do|should|to) (?:i |we )?(?:start|begin)\b",
    rf"(?:entry ?points?|main dependencies|technologies|frameworks?) (?:of|used (?:in|by)|in) {_THIS} {_WHOLE}\b",
    rf"(?:explain|describe|summari[sz]e|understand) {_THIS} (?:whole |entire )?{_WHOLE}\s*[.?!]?$",
    rf"(?:à quoi sert|c'est quoi|qu'est-ce que(?: c'est que)?|que fait|que font) {_CE} ?{_TOUT}\b",
    rf"(?:explique|décris|présente|résume)(?:[- ]moi)? {_CE} ?{_TOUT}\s*[.?!]?$",
    rf"{_FORME} {_CE} ?{_TOUT}\b",
    rf"comment (?:est|sont) (?:structuré|organisé|construit|architecturé)e?s? {_CE}",
    rf"comment {_CE} ?{_TOUT} (?:est|sont)[- ](?:ils?|elles?)?\s?(?:structuré|organisé|construit|architecturé)",
    rf"comment (?:puis-je |peut-on |dois-je )?(?:l'|le |la )?{_LANCER}(?: {_CE} ?{_TOUT})?\s*\??$",
    r"(?:par où|où) commencer\b",
    end="",
)
"""Is the question about the repository as a whole?"""

RUNS = _any(
    _RUN,
    _LANCER,
    r"get(?:ting)? started|begin|commencer",
)
SHAPE = _any(_BUILT, _SHAPE, _FORME, r"entry ?points?|structurée?|organisée?|commencer|begin")
HOW_TO = _any(
    r"install\w*|quick ?start|getting started|usage|set ?up|run(?:ning)?|deploy\w*|build(?:ing)?|examples?",
    r"démarrage|utilisation|exemples?|lancement",
)

QUESTION = re.compile(
    r"\?|^\s*(?:how|what|where|why|when|which|who|does|do|is|are|can|could|should|explain|describe|show|tell|find|list"
    r"|comment|où|pourquoi|quand|quel(?:le)?s?|qui|que|qu'|est-ce|explique|décris|montre|trouve|liste)\b",
    re.I,
)
SEEK = _any(
    r"where(?: is| are|'s)|find|locate|show(?: me)?|what is|definition of|defined?|declared?|implement(?:ed|ation)",
    r"où|trouve[rz]?|montre[rz]?|définition|définie?s?|déclarée?s?|implémentée?s?|qu'est-ce que",
)
TESTS = _any(
    r"tests?|test (?:case|suite|file)s?|tested|testing|pytest|unittest|specs?|fixtures?|test coverage",
    r"tests? unitaires?|testée?s?|jeux? d'essais?|couverture",
)
DOCS = _any(
    r"docs|documentation|documented|readme|changelog|release notes|tutorials?|guides?|docstrings?",
    r"documentée?s?|notes de version|journal des modifications|tutoriels?",
)
ERROR = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning|Panic)\b\s*:\s"
    r"|^\s*(?:fatal|error|panic|exception|erreur|Error|Fatal|Exception|Erreur)\b[\w\[\]]*\s*:",
    re.M,
)
RAISES = _any(
    r"raise[sd]?|throws?|thrown|fails? with|crash\w* with|(?:an?|this) (?:error|exception)",
    r"(?:une?|cette|l')\s?(?:erreur|exception)",
)
SCHEMA = _any(
    r"database|db|sql|prisma|tables?|columns?|foreign keys?|migrations?|schema|entit(?:y|ies)|relations?",
    r"base de données|colonnes?|clés? étrangères?|schéma",
)
SCHEMA_SURE = _any(
    r"prisma|sql|foreign keys?|database schema|db schema|schéma de (?:la )?base|clés? étrangères?",
    r"tables? (?:and|et) (?:columns?|colonnes?)",
    r"(?:which|what|quelles?|list(?:e)?) (?:the |les |des )?(?:database |sql )?(?:tables?|columns?|colonnes?)",
)
CONVENTIONAL_HEAD = re.compile(r"^(\w+)(?:\(([^)\n]{1,60})\))?!?:\s")
BULLETS = re.compile(r"^\S[^\n]*\n(?:[^\n]*\n)?\s*[*-] \S")
