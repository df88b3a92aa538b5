"""Takes from a task what asks for nothing: politeness, reasons, callers that are adapted anyway. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot.agents.editing.exact.wording.clause import Part, Reading, parts_of, verb_at, words_of
from repopilot.agents.editing.exact.wording.lexicon import REASONS
from repopilot.agents.editing.exact.wording.task_tokens import Token, tokens_of

_POLITE = re.compile(
    r"^\W*(?:(?:please|pls|plz|hi|hey|hello|ok|okay|so|well|maybe|perhaps|nit|todo|fixme|could you|can you|would you|"
    r"will you|could we|can we|"
    r"may we|shall we|should we|might we|is it possible to|would it be possible to|would you mind|why don['’]t (?:we|"
    r"you)|why not|how about|"
    r"what about|what if we|do you think (?:you|we) (?:could|can)|i want (?:you )?to|i['’]d like (?:you )?to|i would "
    r"like (?:you )?to|"
    r"i need (?:you )?to|i think (?:we|you) (?:should|could|can|need to|ought to)|i think|imo|we want to|let['’]s|"
    r"lets|we should|we could|"
    r"we need to|we must|we have to|you should|you need to|you can|it(?: would|['’]d) be (?:nice|good|great|better|"
    r"cool|helpful) "
    r"(?:to|if (?:you|we) (?:could )?)|time to|feel free to|go ahead and|remember to|don['’]t forget to|need to|"
    r"now|then|also|kindly|just|simply|quick one|small one|one more thing|next|first|finally|fyi|"
    r"peux-tu|peut-on|on peut|on pourrait|pourrait-on|pourrais-tu|pouvez-vous|pourriez-vous|tu peux|tu pourrais|il "
    r"faut|il faudrait|"
    r"il faut que tu|faut|je veux|je voudrais|j['’]aimerais|merci de|veuillez|stp|svp|s['’]il (?:te|vous) pla[iî]t|"
    r"bonjour|salut|"
    r"est-ce (?:qu['’]on|que tu) (?:peut|peux|pourrait|pourrais)|on devrait|nous devons|nous devrions|il serait bien "
    r"de|ce serait bien de|"
    r"pense à|pensez à|n['’]oublie pas de)"
    r"(?:\s*[,:!]\s*|\s+))+",
    re.I,
)


_CONVENTIONAL = re.compile(
    r"^(?:feat|fix|chore|refactor|docs?|style|perf|build|ci|test|deps|release)(?:\([^)]*\))?!?:\s+", re.I
)


_THANKS = re.compile(
    r"[\s,;.]*(?:\b(?:please|pls|thanks|thank you|thx|cheers|merci(?: d['’]avance| beaucoup)?|stp|svp|s['’]il (?:te|"
    r"vous) pla[iî]t)\b"
    r"[\s,.!]*)*[.!?…\s]*$",
    re.I,
)


_CALLERS = (
    r"(?:all |toutes |tous |every |any )?(?:of )?(?:its |the |their |ses |les |leurs |sa |son |everything that |"
    r"whatever )?(?:(?:other|internal|"
    r"remaining|existing|corresponding|relevant|affected) )?(?:references?|usages?|uses?|callers?|imports?|"
    r"importers?|call ?sites?|calls|"
    r"call places|occurrences?|mentions?|tests?|docs?|documentation|users?|consumers?|places? (?:that|which|"
    r"where)[^.;]*|keyword arguments|"
    r"références?|appels?|appelants?|utilisations?|usages|appelants|changelog|"
    r"uses it|calls it|that uses it|that calls it|imports it|stubs?|examples?|callers['’] keyword arguments)"
)


_EVERYWHERE = re.compile(
    r"(?:[\s,;.–—-]+|(?=[(]))(?:[(](?:{0}[)])|{0})[\s.]*$".format(
        rf"(?:(?:and |then |et |also |with |including |incl\.? |plus |along with |together with |as well as |avec |y "
        rf"compris |puis )*"
        rf"(?:(?:please )?(?:update|fix|adjust|adapt|change|mend|rename|pass|include|keep|don['’]t forget|correct|"
        rf"adapte[rz]?|mets? à jour|mettre à jour|"
        rf"mets? a jour|corrige[rz]?) )?{_CALLERS}(?:(?:,| and| et|, and) {_CALLERS})*"
        r"(?: (?:of it|to it|accordingly|too|as well|everywhere|aussi|included|to match|in step|in sync|également|"
        r"compris|that use it|that call it|"
        r"that need it|with it))*)"
        r"|(?:everywhere|partout|throughout|across the board|project-wide|repo-wide)"
        r"|(?:everywhere |throughout |across |all over |in |partout dans |dans )(?:it is |it['’]s )?(?:the |this |"
        r"our )?(?:(?:whole|entire|tout le|toute la|le) )?"
        r"(?:repo|repository|code ?base|project|package|library|lib|tree|dépôt|projet|code|used|referenced)"
        r"|(?:also |too |and also |aussi |and |et )*(?:in|dans) (?:the |les? |la |all )?(?:docs?|documentation|"
        r"stubs?|tests?|changelog|examples?|exemples?)"
        r"(?:(?:,| and| et|, and) (?:in |dans )?(?:the |les? |la )?(?:docs?|documentation|stubs?|tests?|changelog|"
        r"examples?|exemples?))*(?: too| as well| aussi)?"
    ),
    re.I,
)


def plain_task(task: str) -> str:
    """A task without politeness, reasons at its end, and mentions of the callers that are adapted anyway.

    Args:
        task: as the user wrote it.
    """
    text = _with_whole_genitives(task.strip() if "`" in task and "\n" in task else " ".join(task.split()))
    before = ""
    while text != before:
        before = text
        text = _TAIL.sub("", _THANKS.sub("", _POLITE.sub("", _CONVENTIONAL.sub("", text))))
    text = _IMPORTABLE.sub(lambda m: f"export {m['name'] or m['other']} from {m['package'] or m['from']}", text)
    text = _KIND_OF_CLASS.sub(_with_base, text)
    text = _DEFAULT_OF.sub(r"set the default of \g<name> of \g<owner> to \g<value>", text)
    text = _SWITCHED.sub(_set_switch, _KIND_OF_ENTRY.sub(r"\1 ", text))
    text = _CACHED.sub(lambda m: f"decorate {m['name'] or m['other']} with {m['decorator']}", text)
    for stated in (_LABELLED, _STATED):
        text = stated.sub(lambda m: f"set {m['name']} to {m['value']}", text)
    text = _OWNED.sub(lambda m: f"the {m['name'] or m['other']} {m['kind'] or m['noun']} of {m['owner']}", text)
    text = _PART_REMOVED.sub(lambda m: f"{m['remove']} the {m['part']} of the {m['kind']} {m['owner']}", text)
    return _with_leading_place(_without_leading_dots(_imperative(text)))


_KIND_OF_CLASS = re.compile(
    r"^(?P<name>`?(?-i:[A-Z]\w*[a-z]\w*)`?) (?:should|must|doit|devrait) (?P<also>also )?(?:be|être) "
    r"(?:an?|une?) (?:(?:subclass|kind|sous-classe) (?:of|de) )?(?P<base>`?(?-i:[A-Z]\w*[a-z]\w*)`?)"
    r"(?: too| as well)?$",
    re.I,
)
"""`NotFound should be a KeyError`."""
_DEFAULT_OF = re.compile(
    r"^(?P<owner>`?[A-Za-z_][\w.]*(?:\(\))?`?)['’]s (?P<name>`?[a-z_]\w*`?) (?:(?:should|must) default to|defaults to) "
    r"(?P<value>\S+)$"
)
"""`State's level should default to 3`."""
_PART_REMOVED = re.compile(
    r"^(?P<remove>remove|delete|drop|get rid of|strip) (?:the )?(?P<kind>function|method|class|constant|helper|module) "
    r"(?P<owner>[A-Za-z_]\w*)['’]s (?P<part>\w+)$",
    re.I,
)
"""`remove the function load's docstring`, which leaves the function."""
_LABELLED = re.compile(
    r"^(?P<name>`[\w.]+`|(?=\w*(?:_|[a-z][A-Z]))[A-Za-z_]\w*(?:\.\w+)*)\s*:\s*(?:please\s+)?"
    r"(?:(?:make|set) (?:it|this|that)(?: to)?|use|should be|must be|utilise[rz]?|mets)\s+(?P<value>\S+)$",
    re.I,
)
"""`TIMEOUT_S: make it 5`."""
_STATED = re.compile(
    r"^(?P<name>`[\w.]+`|(?=\w*(?:_|[a-z][A-Z]))[A-Za-z_]\w*(?:\.\w+)*) (?:is|equals|vaut) "
    r"(?:now|from now on|d[ée]sormais) (?P<value>[\"'`].+[\"'`]|-?\d[\w.]*|True|False|None)$"
)
"""`TIMEOUT_S is now 5`."""


_CODE = r"(?:`[\w.]+`|(?=[\w.]*(?:_|[a-z][A-Z]))[A-Za-z_]\w*(?:\.\w+)*)"
_RESULT = r"(?:(?:its|the|ses|son) (?:results?|return value|r[ée]sultats?))"
_FUNCTION = r"`?[A-Za-z_][\w.]*`?"
_CACHED = re.compile(
    rf"^(?:(?P<name>{_FUNCTION})(?:\(\))? (?:should|must|has to|could|can|ought to|devrait|doit) "
    rf"(?:cache|memoi[sz]e|remember|mettre en cache|be (?:cached|memoi[sz]ed))(?: {_RESULT})?"
    rf"|(?:cache|memoi[sz]e) (?:{_RESULT} of )?(?P<other>{_FUNCTION})(?:\(\))?)"
    r" (?:with|using|by|avec|par) (?:the |a |an )?"
    r"(?P<decorator>[`@]{0,2}(?:functools\.)?(?:lru_)?cache(?:\([^()]*\))?`?)(?: decorator)?$",
    re.I,
)
"""`load() should cache its result with lru_cache`."""
_SWITCHED = re.compile(
    rf"^(?:(?P<name>{_CODE}) (?:should|must|has to|needs to|ought to|devrait|doit) (?:now )?(?:be |[eê]tre )"
    r"(?:(?P<on>on|enabled|activ[ée]e?)|off|disabled|d[ée]sactiv[ée]e?) (?:by default|par d[ée]faut)"
    rf"|(?:(?P<enable>enable|turn on|switch on|active[rz]?)|disable|turn off|switch off|d[ée]sactive[rz]?) "
    rf"(?P<switch>{_CODE}) (?:by default|par d[ée]faut))(?P<where>(?: (?:in|of|dans|de) \S+)?)$",
    re.I,
)
"""`STRICT should be off by default`, `enable strict_mode by default`."""
_KIND_OF_ENTRY = re.compile(
    r"^((?i:add|ajoute[rz]?))\s+(?i:an?|the|une?|la|le)\s+(?:[a-zé-]+\s+){1,3}(?=`?[A-Z][A-Z0-9_]+(?:\s*=\s*\S+)?`?\s+(?:to|in|into|à|dans)\s)"
)
"""What an entry is, before it: `add an exit status TIMED_OUT = 9 to Status`."""


def _with_base(match: re.Match[str]) -> str:
    name, base = match["name"], match["base"]
    return f"add {base} to the bases of {name}" if match["also"] else f"make {name} derive from {base}"


def _set_switch(match: re.Match[str]) -> str:
    value = "True" if match["on"] or match["enable"] else "False"
    return f"set the default of {match['name'] or match['switch']}{match['where']} to {value}"


def _with_whole_genitives(text: str) -> str:
    """A text with `PREFIXES's` for `PREFIXES'`, which reads like the end of a quotation."""
    tokens = tokens_of(text)
    ends = [
        sign.start
        for name, sign in itertools.pairwise(tokens)
        if sign.text in ("'", "’") and sign.glued and name.kind == "name" and name.low.endswith("s")
    ]
    for at in reversed(ends):
        text = f"{text[:at]}'s{text[at + 1 :]}"
    return text


_OWNED = re.compile(
    r"(?<![\w'’\"])(?:the (?:function )?)?(?P<owner>(?!it\b|that\b|let\b|what\b|here\b|there\b|user\b|caller\b)"
    r"`?[A-Za-z_][\w.]*(?:\(\))?`?)['’]s "
    r"(?:(?P<name>`?\w+`?) (?P<kind>parameter|argument|param|arg|kwarg)\b(?! name)|"
    r"(?P<noun>parameter|argument|param|arg|kwarg) (?P<other>`?(?!to\b|should\b|must\b|is\b|name\b|order\b)\w+`?))",
    re.I,
)
"""`fetch's n parameter`, which is the n parameter of fetch."""
_IMPORTABLE = re.compile(
    r"^`?from (?P<package>[A-Za-z_][\w.]*) import (?P<name>\w+)`? (?:should|must|has to) (?:work|be possible)"
    r"(?: too)?$|"
    r"^(?:let|allow) (?:users|people|us|everybody|everyone|callers) (?:to )?import (?P<other>\w+) "
    r"(?:directly )?from (?P<from>[A-Za-z_][\w.]*)(?: directly)?$",
    re.I,
)
"""What asks for an export by the import that it makes possible."""


_LEADING_PLACE = re.compile(
    r"^(?:in|dans) (?P<name>`?[A-Za-z_][\w.]*(?:\(\))?`?)(?: \((?P<path>[\w./-]+\.\w+)\))?,? "
    r"(?=(?:rename|set|make|change|raise|lower|remove|delete|drop|replace|use|add|move|renomm|chang|supprim|remplac|ajout)"
    r"\w* )",
    re.I,
)


def _with_leading_place(text: str) -> str:
    """A task that begins with a place and its file, `In f (a.py) rename …`, with both as it is read."""
    found = _LEADING_PLACE.match(text)
    if found is None or found["name"].lower() in _NO_PLACES:
        return text
    file = f" in {found['path']}" if found["path"] else ""
    return f"in `{found['name'].strip('`')}`{file}, {text[found.end() :]}"


_NO_PLACES = frozenset("the this that a an our general order addition short all le la les l ce cette ordre".split())


_PAST = re.compile(
    r"(?P<verb>renam|remov|delet|mov|replac|chang|increas|decreas|reduc|export|add|drop|rais|lower|bump|extract)"
    r"(?P<end>e?[sd]|p?ed|ing)\s+(?!(?:should|must|is|are|of)\b)",
    re.I,
)
_NEED_E = ("renam", "remov", "delet", "mov", "replac", "chang", "increas", "decreas", "reduc", "rais")


def _imperative(text: str) -> str:
    """`Renamed X to Y`, `renames X to Y`: what commits say was done, as what is to be done."""
    match = _PAST.match(text)
    if match is None:
        return text
    verb = match["verb"] + ("e" if match["verb"].lower() in _NEED_E else "")
    return f"{verb} {text[match.end() :]}"


_DOTTED_MEMBER = re.compile(
    r"(?<![\w/.`])(?P<quote>`?)\.(?P<name>[A-Za-z_$][\w$]*)(?P<call>(?:\(\))?)(?P=quote)"
    r"(?=\s+(?:property|attribute|field|method|function|getter|setter|member|option)\b)"
)
_DOTTED_NAME = re.compile(r"(?<![\w/.`])(?P<quote>`?)\.(?P<name>[A-Za-z_$][\w$]*(?:\(\))?)(?P=quote)(?![\w/.])")


def _without_leading_dots(text: str) -> str:
    """`the .a property` as `the a property`: no hidden file is meant."""
    if _DOTTED_MEMBER.search(text) is None:
        return text
    return _DOTTED_NAME.sub(lambda m: f"{m['quote']}{m['name']}{m['quote']}", text)


_TAIL = re.compile(
    r"[\s,–-]+(?:from (?:now|here) on|for now|again|once more|d[ée]sormais|as of now|at last|this time|after all|of "
    r"course|"
    r"if possible|si possible|please|(?:by|in) itself|"
    r"for (?:[\w-]+ )?(?:consistency|clarity|readability|compatibility|performance|simplicity|speed|safety|"
    r"convenience))$",
    re.I,
)


def without_callers(text: str) -> str:
    """A task without `and update all callers` at its end.

    Args:
        text: the task.
    """
    shorter = _EVERYWHERE.sub("", text)
    return shorter if shorter.strip() and not _ENDS_OPEN.search(shorter) else text


_ENDS_OPEN = re.compile(r"\b(?:that|this|these|those|the|an?|its|unused|any|cet(?:te)?|ces?|un|une)$", re.I)
"""What `drop that import` is without its end: the import is what is meant, nothing that goes along."""


def without_asides(tokens: list[Token], reading: Reading) -> list[Token]:
    """Take out what stands in parentheses: parts of the task, or reasons."""
    kept: list[Token] = []
    at = 0
    while at < len(tokens):
        if tokens[at].text != "(":
            kept.append(tokens[at])
            at += 1
            continue
        end = next((n for n in range(at, len(tokens)) if tokens[n].text == ")"), len(tokens))
        inside = tokens[at + 1 : end]
        reading.waiting += _aside(inside, reading)
        at = end + 1
    return kept


def with_default(tokens: list[Token]) -> list[Token]:
    """`by default` and `par défaut` as one word."""
    kept: list[Token] = []
    for token in tokens:
        if token.low in ("default", "defaut") and kept and kept[-1].low in ("by", "par"):
            kept[-1] = replace(token, low="default")
        else:
            kept.append(token)
    return kept


_OLD_ASIDE = re.compile(
    r"(?:it is |it's |is |c'est |est )?(?:currently|now|was|today|actuellement|instead of|at the moment|presently|"
    r"not|at present|formerly)\b"
)


def _aside(tokens: Sequence[Token], reading: Reading) -> list[Part]:
    words = words_of(tokens)
    code = [t for t in tokens if t.kind != "word" and t.kind != "sign"]
    if len(tokens) > 1 and is_condition(tokens):
        reading.failed = True
    if not code:
        return []
    if _OLD_ASIDE.match(words):
        return [Part("old", (code[-1],))]
    if REASONS.match(words) or len(tokens) > 8 or about_callers(tokens):
        return []
    parts = parts_of(tokens)
    if len(parts) == 1 and not parts[0].role and all(t.kind == "path" for t in code):
        return [Part("in", parts[0].tokens)]
    return [p if p.role else Part("aside", p.tokens) for p in parts]


def impolite(tokens: Sequence[Token], text: str) -> Sequence[Token]:
    """Words without `could you please` in front."""
    match = _POLITE.match(text[tokens[0].start :]) if tokens else None
    kept = [t for t in tokens if t.start >= tokens[0].start + match.end()] if match else tokens
    return kept if kept and (verb_at(kept)[0] or match is None or is_clitic(kept)) else tokens


def is_clitic(tokens: Sequence[Token]) -> bool:
    """Whether a French pronoun stands before its verb: `la supprimer`."""
    return len(tokens) > 1 and tokens[0].low in ("la", "le", "les", "l'", "l") and bool(verb_at(tokens[1:])[0])


_CALLERS_ONLY = re.compile(
    r"(?:(?:and|please|then|also|et|puis|but|mind|careful|from|in|with|incl|including) )*(?:(?:mind|adapt|fix|update|"
    r"mend|have|pass|adjust|correct|change|keep|rename|take care of|"
    r"don't forget|make sure|adapte[rz]?|mets?|mettre|corrige[rz]?|repare[rz]?|pense[rz]? a) )?(?:a jour )?(?:both |"
    r"all |the |every |any |its |their |les |ses |"
    r"tous |toutes |aux |to |also |other |two |too |his )*"
    r"(?:callers?|calls?|call sites?|imports?|importers?|references?|usages?|uses?|users?|tests?|docs?|documentation|"
    r"whatever (?:points|refers|uses|calls)|everything "
    r"that|anything that|appels?|appelants?|stubs?|examples?|re-exports?|typings?|coverage settings|places?)\b"
)


_CONDITION = re.compile(
    r"\b(?:keep|keeps|leave|leaving|except|unless|alias|aliases|deprecat\w*|warn\w*|but not|only (?:in|for|where|"
    r"when)|not in|without|"
    r"remain\w*|stays?|preserv\w*|garde[rz]?|laisse[rz]?|sauf|sans|conserve[rz]?|untouched|unchanged|as before|still "
    r"works?|"
    r"backwards?|lazily|inside|temporar\w+)\b"
)


def is_condition(segment: Sequence[Token]) -> bool:
    """Whether words beside what is asked for limit it, so that they can't be left out: `but keep the old name`.

    Args:
        segment: of a sentence.
    """
    return _CONDITION.search(words_of(segment)) is not None


def about_callers(segment: Sequence[Token]) -> bool:
    """Whether words only say that callers, imports and tests go along, which they do anyway."""
    code = [t for t in segment if t.kind in ("name", "quoted", "literal", "path")]
    match = _CALLERS_ONLY.match(words_of(segment)) if verb_at(segment)[0] != "import" else None
    return match is not None and (not code or all(t.kind == "path" for t in code))


def without_fillers(tokens: Sequence[Token]) -> list[Token]:
    """Tokens without the adverbs and conjunctions in front."""
    kept = list(tokens)
    while kept and kept[0].kind == "word" and kept[0].low in _IN_FRONT and not verb_at(kept)[0]:
        kept.pop(0)
    return kept


_IN_FRONT = frozenset(
    "and then also now so just please et puis aussi but simply to we you afterwards there here hence thus therefore "
    "consequently alors donc finally next kindly could can would".split()
)
