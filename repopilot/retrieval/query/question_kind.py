"""What a question asks about its subject (where it is defined, checked, set, …) and for which kind of symbol. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Aspect = Literal[
    "defined", "checked", "set", "used", "tested", "documented", "configured", "raised", "called", "explained", ""
]
SymbolKind = Literal["class", "function", "constant", "file", ""]

LONGEST = 2000
"""Characters of a question that are read."""


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.I)


_WHERE = _any(
    r"where|where's|(?:in|at|from) (?:which|what) \w+|which (?:\w+ ){0,2}(?:files?|modules?|places?|parts?"
    r"|packages?)",
    r"où|ou (?:est|sont|se|peut|est-ce)|(?:dans|à|de) quel(?:le)?s? \w+|quels? (?:fichiers?|modules?|endroits?)",
)
_WHO = _any(r"what|who|which", r"qui|qu'est-ce qui|quel(?:le)?s?")
_HOW_PASSIVE = _any(
    r"how (?:is|are|was|were|gets?)|how (?:can|could|should|must) (?:\S+ ){1,8}be", r"comment (?:est|sont|s'|se)"
)
_EXPLAIN = _any(
    r"how|why|explain|describe|what (?:is|are|does|do|did|happens?|role|purpose)|walk me through|difference between",
    r"comment|pourquoi|expliquer?z?|décri[st]|décrire|décrivez|que (?:fait|font|se passe|signifie)"
    r"|qu'est-ce que?|à quoi (?:sert|servent)"
    r"|quel(?:le)? (?:est le rôle|différence)",
)
_CLAUSE_END = re.compile(
    r"[?!;,]|\.\s|\s(?:when|before|after|if|while|whenever|because|so that|unless|and (?:where|how|what|why|who"
    r"|which)|during"
    r"|quand|avant|après|lorsqu|si|pendant|parce|afin|et (?:où|comment|pourquoi|qui|quel))(?!\w)",
    re.I,
)

_PHRASES: Mapping[Aspect, re.Pattern[str]] = {
    "tested": _any(
        r"(?:which|what|find|show|list|are there|is there|where are)(?: me)?(?: all| any| some)?(?: the| a)?"
        r"(?: (?!of\b|for\b|in\b)[\w-]+){0,2} tests?(?! (?:client|runner|case class|app|server|config)\w*)",
        r"tests? (?:cover|covers|covering|exercis|check|for the|that)(?:\w*)|covered by (?:a )?tests?|test coverage",
        r"quels? tests?|où sont les tests|y a-t-il (?:des|un) tests?|couverte?s? par (?:des|les|un) tests?",
    ),
    "documented": _any(
        r"(?:what|where|which) (?:\S+ ){0,3}(?:docs|documentation|readme|changelog|guide|tutorial|docstring)s?",
        r"documentation (?:of|for|about|on|say|page)\w*",
        r"que dit (?:la documentation|le readme)|où (?:\S+ ){0,3}documentation|documentation (?:de|du|des|sur)",
    ),
    "configured": _any(
        r"how (?:do|can|to|does one|should|would|could)(?: i| we| you| one| someone| users?| the user)?"
        r" (?:configure|customi[sz]e|enable|disable|turn|switch|change|set up|set|override|adjust|increase|limit)",
        r"(?:which|what) (?:\w+ )?(?:settings?|options?|flags?|config(?:uration)?|environment variables?"
        r"|env vars?|switch)",
        r"comment (?:puis-je |peut-on |dois-je |faire pour )?(?:configurer|activer|désactiver|paramétrer"
        r"|changer|régler|personnaliser)",
        r"quel(?:le)?s? (?:options?|réglages?|variables? d'environnement|paramètres? de configuration|configuration)",
    ),
    "raised": _any(
        r"(?:what|which|when|where|why)(?: \w+)? (?:errors?|exceptions?|warnings?)(?: (?:is|are|does|do|will"
        r"|can|gets?|would))?",
        r"why (?:do|does|did|is|are|am)(?: \S+){1,12} (?:fail|crash|rais|throw|get an? (?:\w+ )?(?:error"
        r"|exception))(?:s|es|ing|e)?",
        r"quel(?:le)?s? (?:erreurs?|exceptions?|avertissements?)|pourquoi (?:\S+ ){1,12}(?:échoue|plante"
        r"|lève)(?:nt)?",
    ),
    "called": _any(
        r"callers? of|call sites? of|who calls|what calls|called from|qui appelle|appelants? d\S*|appelée?s? depuis"
    ),
    "used": _any(
        r"(?:usages?|references|uses|users) (?:of|to)|who uses|what uses|depends on|qui utilise"
        r"|utilisations? d\S*|dépend(?:ent)? d\S*"
    ),
    "defined": _any(r"(?:definition|declaration|implementation) of|(?:définition|déclaration|implémentation) d\S*"),
}
"""Ways of asking that settle it, whatever else the question says."""

_DONE: Mapping[Aspect, re.Pattern[str]] = {
    "tested": _any(r"tested|testée?s?|testees?|exercised"),
    "documented": _any(r"documented|described|documentée?s?|décrite?s?"),
    "configured": _any(
        r"(?:re)?configured|customi[sz]ed|enabled|disabled|(?:turned|switched) (?:on|off)|tuned|configurable",
        r"configurée?s?|configurees?|paramétrée?s?|personnalisée?s?|activée?s?|désactivée?s?|réglée?s?",
    ),
    "checked": _any(
        r"checked|(?:in)?validated|verified|enforced|ensured|guarded|rejected|limited|compared|restricted"
        r"|sanitized|authori[sz]ed"
        r"|allowed|forbidden|prevented|detected|refused|denied|tested for|asserted|validation|verification|protected",
        r"vérifiée?s?|verifiee?s?|validée?s?|validees?|contrôlée?s?|controlee?s?|comparée?s?|rejetée?s?"
        r"|limitée?s?|refusée?s?|imposée?s?"
        r"|autorisée?s?|interdite?s?|détectée?s?|empêchée?s?|protégée?s?|validation|vérification",
    ),
    "raised": _any(
        r"raised|thrown|emitted|reported|triggered|warned|fired",
        r"levée?s?|levees?|lancée?s?|émise?s?|déclenchée?s?|signalée?s?",
    ),
    "set": _any(
        r"set|assigned|initiali[sz]ed|written|updated|modified|changed|mutated|populated|filled|stored|saved"
        r"|created|built|constructed"
        r"|instantiated|generated|registered|added|appended|removed|deleted|cleared|reset|computed|calculated"
        r"|loaded|cached|produced"
        r"|overwritten|pushed|inserted|made|determined|chosen|opened|closed",
        r"affectée?s?|assignée?s?|initialisée?s?|écrite?s?|ecrite?s?|modifiée?s?|modifiees?|changée?s?"
        r"|remplie?s?|stockée?s?|enregistrée?s?"
        r"|enregistrees?|sauvegardée?s?|créée?s?|creee?s?|construite?s?|instanciée?s?|générée?s?|ajoutée?s?"
        r"|supprimée?s?|effacée?s?"
        r"|calculée?s?|calculees?|chargée?s?|mise?s? (?:à jour|en cache)|déterminée?s?|choisie?s?|ouverte?s?"
        r"|fermée?s?",
    ),
    "called": _any(
        r"called|invoked|executed|dispatched|run|started|launched",
        r"appelée?s?|appelees?|invoquée?s?|exécutée?s?|executees?|lancée?s?|démarrée?s?",
    ),
    "used": _any(
        r"used|referenced|read|accessed|imported|consumed|needed|handled|applied|parsed|processed",
        r"utilisée?s?|utilisees?|référencée?s?|lue?s?|importée?s?|consommée?s?|employée?s?|gérée?s?|gerees?"
        r"|appliquée?s?|traitée?s?|analysée?s?",
    ),
    "defined": _any(
        r"defined|declared|implemented|located|found|lives?|comes? from|placed|specified|definition|implementation",
        r"définie?s?|definie?s?|déclarée?s?|declaree?s?|implémentée?s?|située?s?|se trouvent?|spécifiée?s?"
        r"|définition|implémentation",
    ),
}
"""What is done to the subject of "where is … done"."""

_DOES: Mapping[Aspect, re.Pattern[str]] = {
    "checked": _any(
        r"checks?|validates?|verif(?:y|ies)|enforces?|ensures?|guards?|rejects?|limits?|compares?|restricts?"
        r"|sanitizes?|authori[sz]es?"
        r"|prevents?|detects?|(?:checking|validating|verifying|enforcing|detecting)",
        r"vérifie(?:nt)?|valide(?:nt)?|contrôle(?:nt)?|compare(?:nt)?|rejette(?:nt)?|limite(?:nt)?"
        r"|refuse(?:nt)?|empêche(?:nt)?|détecte(?:nt)?",
    ),
    "raised": _any(
        r"raises?|throws?|triggers?|emits?|lève(?:nt)?|lance une (?:erreur|exception)|déclenche(?:nt)?|émet(?:tent)?"
    ),
    "set": _any(
        r"sets?|assigns?|initiali[sz]es?|writes?|updates?|modif(?:y|ies)|changes?|creates?|builds?|constructs?"
        r"|instantiates?|generates?"
        r"|registers?|adds?|removes?|deletes?|clears?|resets?|computes?|calculates?|loads?|stores?|saves?"
        r"|populates?|decides?|determines?",
        r"affecte(?:nt)?|initialise(?:nt)?|écri(?:t|vent)|modifie(?:nt)?|change(?:nt)?|remplit|stocke(?:nt)?"
        r"|enregistre(?:nt)?|crée(?:nt)?|construi(?:t|sent)|génère(?:nt)?"
        r"|ajoute(?:nt)?|supprime(?:nt)?|calcule(?:nt)?|charge(?:nt)?|met(?:tent)? à jour|décide(?:nt)?"
        r"|détermine(?:nt)?",
    ),
    "called": _any(r"calls?|invokes?|executes?|runs?|dispatch(?:es)?|appelle(?:nt)?|exécute(?:nt)?|invoque(?:nt)?"),
    "used": _any(
        r"uses?|references?|reads?|access(?:es)?|imports?|consumes?|needs?|requires?|utilise(?:nt)?|lit|lisent"
        r"|importe(?:nt)?"
    ),
    "defined": _any(
        r"defines?|declares?|implements?|provides?|contains?|définit|définissent|déclare(?:nt)?"
        r"|implémente(?:nt)?|contien(?:t|nent)"
    ),
}
"""What the place asked for does."""

_KINDS: Mapping[SymbolKind, re.Pattern[str]] = {
    "class": _any(
        r"(?:which|what) (?:\w+ )?(?:(?:sub|super)?class(?:es)?|structs?|interfaces?|traits?|mixins?)",
        r"quelles? (?:classes?|structures?|interfaces?)",
    ),
    "function": _any(
        r"(?:which|what) (?:\w+ )?(?:functions?|methods?|decorators?|hooks?|callbacks?|helpers?|handlers?"
        r"|middlewares?|routines?)",
        r"quelles? (?:fonctions?|méthodes?|methodes?|procédures?)|quels? (?:décorateurs?|gestionnaires?)",
    ),
    "constant": _any(
        r"(?:which|what) (?:\w+ )?(?:constants?|variables?|settings?|options?|flags?|attributes?|fields?"
        r"|limits?|env vars?)",
        r"(?:which|what)(?: is| are)?(?: the)? (?:config(?:uration)? (?:keys?|values?|options?)"
        r"|defaults?(?: values?)?)",
        r"(?:default|maximum|minimum|max|min|largest|smallest) (?:value|size|length|number|limit|timeout|allowed)",
        r"quelles? (?:constantes?|variables?|valeurs? par défaut|limites?|options?)|quels? (?:réglages?"
        r"|paramètres?|attributs|champs?)",
        r"valeurs? par défaut|(?:taille|longueur) maximale|nombre maxim(?:al|um)",
    ),
    "file": _any(
        r"(?:which|what) (?:\w+ )?(?:files?|modules?|packages?|folders?|director(?:y|ies)|scripts?)",
        r"quels? (?:fichiers?|modules?|paquets?|dossiers?|répertoires?|scripts?)",
    ),
}


def asks_for(question: str) -> Aspect:
    """What a question asks about its subject, in English or French.

    Args:
        question: the text of a question.

    Returns:
        What is done to the subject of "where is … done" and "how is … done" (the last such word of the clause, since
        the subject stands before it); what "which … does" does (the first); "explained" for other questions; "" for a
        text that asks nothing of the kind.
    """
    text = _normal(question)
    settled = next((aspect for aspect, pattern in _PHRASES.items() if pattern.search(text)), None)
    if settled:
        return settled
    place = _WHERE.search(text)
    if place:
        return _last_done(_clause(text, place.end())) or "defined"
    passive = _HOW_PASSIVE.search(text)
    if passive:
        return _last_done(_clause(text, passive.end())) or "explained"
    agent = _WHO.match(text)
    does = _first_done(_clause(text, agent.end())) if agent and not _EXPLAIN.match(text) else ""
    return does or ("explained" if _EXPLAIN.search(text) else "")


def wants_kind(question: str) -> SymbolKind:
    """The kind of symbol that a question asks for ("which class is responsible for …"); "" where it names none."""
    text = _normal(question)
    found = [(match.start(), kind) for kind, pattern in _KINDS.items() if (match := pattern.search(text))]
    return min(found)[1] if found else ""


def _normal(question: str) -> str:
    return " ".join(question[:LONGEST].replace("’", "'").split())


def _clause(text: str, start: int) -> str:
    end = _CLAUSE_END.search(text, start)
    return text[start : end.start() if end else None]


def _last_done(clause: str) -> Aspect:
    found = [(match.start(), aspect) for aspect, pattern in _DONE.items() for match in pattern.finditer(clause)]
    return max(found)[1] if found else ""


def _first_done(clause: str) -> Aspect:
    found = [(match.start(), aspect) for aspect, pattern in _DOES.items() if (match := pattern.search(clause))]
    return min(found)[1] if found else ""
