"""Takes from a task remarks that ask for nothing: what must stay, callers to adapt, how it came to be asked for. Pure.

An edit by code changes only what it must, and the callers with it. What the remarks name is checked afterwards.
"""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.wording.clause import modal_at, verb_at
from repopilot.agents.editing.exact.wording.plain_wording import plain_task, without_fillers
from repopilot.agents.editing.exact.wording.task_tokens import tokens_of

_CODE = r"(?:`[^`\n]+`|[\"'“«][^\"'”»\n]+[\"'”»]|[\w./$:-]+(?:\(\))?)"
_LIST = rf"{_CODE}(?:,?\s+{_CODE}){{0,11}}"
_AS_IS = (
    r"(?:as(?:[ -]is|\s+(?:it\s+is|they\s+are|before))|alone|unchanged|untouched|in place|intact(?:e|s|es)?|"
    r"where (?:it is|they are)|the same|(?:as )?(?:it|they) (?:is|are)(?: now)?|tels? quels?|telles? quelles?|"
    r"inchang[ée]e?s?|comme (?:avant|il est|ils sont)|en l['’]état|(?:its|their|the) names?)"
)
_REMARK = re.compile(
    r"(?:(?:but|and|though|however|while|mais|et|please|just)\s+)?(?:"
    rf"(?P<subject>{_LIST})\s+(?:of course |bien sûr )?"
    r"(?:should|must|can|has to|have to|doit|doivent|devrai(?:t|ent))?\s*"
    r"(?:keeps?|stays?|remains?|reste(?:nt)?|garde(?:nt)?|conserve(?:nt)?)\s+(?:exactly\s+)?"
    rf"(?:{_AS_IS}|son nom|leurs? noms?)"
    r"|(?:[\w`'’.-]+\s+){1,5}of course (?:stays?|remains?)"
    rf"|(?:leave|keep|laisse[rz]?|garde[rz]?)\s+(?P<object>{_LIST})\s+(?:exactly\s+)?{_AS_IS}"
    rf"|(?:don['’]t|do not|please don['’]t)\s+(?:touch|change|rename|move|remove)\s+(?P<kept>{_LIST})"
    rf"|ne (?:touche[rz]?|change[rz]?|renomme[rz]?|modifie[rz]?)\s+pas\s+(?:à\s+|au\s+|aux\s+)?(?P<garde>{_LIST})"
    r"|(?:with\s+)?no (?:deprecat\w+|alias(?:es)?|shims?|backwards?[- ]compat\w*|compat\w*)"
    r"(?: (?:alias|shim|layer|wrapper))?"
    r"(?:\s+(?:is\s+|are\s+)?(?:kept|needed|required|necessary|wanted|please))?"
    r"|without (?:keeping |leaving )?(?:an? |any )?(?:deprecat\w+ |compat\w* )?(?:alias(?:es)?|shims?)"
    r"(?: behind| around)?"
    r"|sans (?:garder |laisser |conserver )?(?:d['’]|l['’]|un )?(?:ancien )?alias"
    r")(?:\s+(?:please|though|of course|bien sûr|too|as well|aussi))*",
    re.I,
)
_NAMED = re.compile(r"`([^`\n]+)`|(?<![\w.])([A-Za-z_$][\w$]*(?:[_.][\w$]+|[a-z][A-Z])[\w$.]*)(?![\w])")
_ALONG = r"(?:docs?|documentation|tests?|doctests?|stubs?|examples?|exemples?|imports?)"
_UPDATE = (
    r"(?:updat\w+|fix(?:ing)?|adapt\w*|adjust\w*|correct\w*|mend|corrige[rz]?|met(?:s|tre|tez) à jour|répare[rz]?)"
)
_ADAPTING = re.compile(
    rf"(?:(?:and|then|et|puis|please|also|aussi)\s+)*{_UPDATE}\s+"
    r"(?:[^`\"“«]*|(?:our|the|its|every|all)(?: own| other)? (?:calls?|callers?|imports?|uses?|usages?)\s[^\"“«]*)"
    rf"|(?:the |les? |la |your |our |in |dans )?{_ALONG}(?:(?:,| and| et|, and) (?:the |les? |la )?{_ALONG})*"
    r" (?:included|too|as well|compris(?:es)?|inclus(?:es)?|aussi)",
    re.I,
)
_FOLLOWING = re.compile(
    r"\b(?:call(?:s|ers?|[- ]sites?)?|import(?:s|ers?)?|references?|refers?|usages?|uses?|users?|tests?|doctests?|"
    r"docs?|documentation|stubs?|examples?|everything that|whatever|whoever|appels?|appelants?|références?|"
    r"utilisations?|exemples?|déclarations?)\b",
    re.I,
)
"""What goes along with a change: `fix the off-by-one` is another request."""
_AND_ADAPTING = re.compile(rf"[ \t]+(?=(?:and|et)\s+{_UPDATE}\s)", re.I)
_WRAPPED = re.compile(r"\s*\(([^()]*)\)")
_PIECE = re.compile(
    r"(?:(?<=^)|(?<=[.;!?]\s)|(?<=[,;–—-]\s))\s*(?P<text>[^,;.!?()]*(?:\.(?=\w)[^,;.!?()]*)*)(?P<end>[,;.!?]+|$)\s*"
)


def without_constraints(task: str) -> tuple[str, tuple[str, ...]]:
    """A task without remarks on what stays, and the names in them.

    Args:
        task: on one line.

    Returns:
        The rest of the task, and the code that the remarks name; the task itself where there are none.
    """
    kept: list[str] = []

    def wrapped(match: re.Match[str]) -> str:
        return "" if _taken(match[1], kept) else match[0]

    text = _AND_ADAPTING.sub(", ", _WRAPPED.sub(wrapped, task))
    pieces: list[str] = []
    at, taken = 0, text.count("(") < task.count("(")
    for match in _PIECE.finditer(text):
        if match.start() > at:
            pieces.append(text[at : match.start()])
        at = match.end()
        if match["text"].strip() and _taken(match["text"], kept):
            taken = True
            continue
        pieces.append(match[0])
    rest = "".join([*pieces, text[at:]]).strip().rstrip(",;–— ")
    return (rest, tuple(dict.fromkeys(kept))) if rest and taken else (task, ())


def _taken(text: str, kept: list[str]) -> bool:
    """Whether a piece of a task is such a remark; its names are noted."""
    remark = text.strip().rstrip(".!;, ")
    if _ADAPTING.fullmatch(remark) and _FOLLOWING.search(remark):
        return not _NAMED.search(remark) or "call" in remark
    if not _REMARK.fullmatch(remark):
        return False
    kept += [code or plain for code, plain in _NAMED.findall(text)]
    return True


_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=\s:)\s+|\s+[–—]\s+")
_POINTING = re.compile(
    r"\b(?:it|its|them|they|their|theirs|this|these|those|both|there|ones?|same|ceci|cela|celui|celle|ceux|celles)\b"
    r"|\b(?:le|la|les|l['’])\s*(?:renommer|supprimer|retirer|enlever|déplacer|remplacer)\b|\w-(?:le|la|les)\b",
    re.I,
)
_IT = re.compile(
    r"(?<=rename )it\b|(?<=move )it\b|(?<=remove )it\b|(?<=delete )it\b|(?<=drop )it\b"
    r"|(?<=renomme)-(?:le|la)\b|(?<=supprime)-(?:le|la)\b|(?<=déplace)-(?:le|la)\b",
    re.I,
)


def requests_only(task: str) -> tuple[str, tuple[str, ...]]:
    """The one sentence of a task that asks for something, where the others only say why.

    Args:
        task: on one line, without remarks on what stays.

    Returns:
        The sentence, with the one name of the others in place of `it`, and the code that the others name; the task
        itself where it isn't clear which one asks, or where the sentence points to another one.
    """
    sentences = [s for s in _SENTENCE.split(task) if s.strip()]
    asking = [s for s in sentences if _is_imperative(s)] or [s for s in sentences if _says_what_should_be(s)]
    if "\n" in task or len(sentences) < 2 or len(asking) != 1 or any(s.count("`") % 2 for s in sentences):
        return task, ()
    others = " ".join(s for s in sentences if s is not asking[0])
    names = tuple(dict.fromkeys(code or plain.rstrip(".") for code, plain in _NAMED.findall(others)))
    request = _IT.sub(f" `{names[0]}`", asking[0], count=1).replace("  ", " ") if len(names) == 1 else asking[0]
    return (task, ()) if _POINTING.search(request) else (request, names)


def _is_imperative(sentence: str) -> bool:
    """Whether a sentence begins with a verb once politeness is gone."""
    tokens = without_fillers(tokens_of(plain_task(sentence)))
    return bool(tokens) and bool(verb_at(tokens)[0])


def _says_what_should_be(sentence: str) -> bool:
    return modal_at(tokens_of(plain_task(sentence))) is not None
