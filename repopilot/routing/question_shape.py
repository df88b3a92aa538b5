"""Whether a request is a plain question: one that asks for a fact of the code, whatever words of change it holds.

"Which class implements X?", "which hash is used by default?", "my handler returns a page, yet it is logged. Why?" are
plain. "What breaks if I rename X?" is a question about a change, "are there bugs in X?" asks for a judgement: they are
not. English and French; `core` is a question as `routing.normalize.read` leaves it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.types import Intent

_PREPOSITION = (
    r"(?:(?:in|on|at|from|by|for|with|to|under|of|into|through|after|until|since|during|within|against|"
    r"a|de|dans|avec|pour|par|sur|en|depuis|pendant|sous|vers) (?:the )?|d'|l'|and |but |so |et |mais )?"
)
_QUESTION_WORD = (
    r"(?:what|waht|which|wich|where|why|how|hwo|who|whose|whom|"
    r"qu'\w+|que(?= )|quel|quels|quelle|quelles|lequel|laquelle|lesquels|lesquelles|ou|comment|combien|pourquoi|"
    r"quand|qui|"
    r"quoi)\b"
)
_AUXILIARY = (
    r"(?:is|are|does|do|did|was|were|has|have|can|could|should|would|will|may|must|isn't|aren't|doesn't|don't|"
    r"est-ce|y a-t-il|existe-t-il|peut-on|doit-on|faut-il)\b(?! (?:you|not)\b)"
)
_BEGINS = re.compile(rf"^{_PREPOSITION}(?:{_QUESTION_WORD}|when\b)|^{_AUXILIARY}")
_BEGINS_WITHOUT_MARK = re.compile(rf"^{_PREPOSITION}{_QUESTION_WORD}")
_CLAUSE = re.compile(
    rf"(?:[,:;)-]|\bto know|\bwonder|\btell me|\bfind out|\bdon't (?:know|see|get|understand)|\bknow|\bsavoir) "
    rf"{_PREPOSITION}(?:{_QUESTION_WORD}|{_AUXILIARY})|\w-(?:t-)?(?:il|elle|on|ils|elles|je)\b|"
    rf" (?:ou|quand|comment|combien|why|where|how)\s?\?"
)
_IMPERATIVE = re.compile(
    r"^(?:add|create|write|implement|make|build|fix|change|update|refactor|rename|replace|remove|delete|move|convert|"
    r"rewrite|port|translate|generate|migrate|extract|split|ajoute|cree|ecris|corrige|remplace|supprime|modifie|"
    r"renomme|deplace)\b"
)
_SENTENCE_END = re.compile(r"(?<=\w[.!?])\s+|(?<=[)'\"?!]\.)\s+|(?<=[?!])\s+")

_CHANGING = (
    r"(?:changing|removing|deleting|renaming|dropping|replacing|upgrading|bumping|disabling|refactoring|modifying|"
    r"moving|making|turning|switching|swapping|editing|altering|touching|splitting|merging|raising|increasing|"
    r"decreasing|modifications?|renaming|changements?|suppression|modifier|changer|supprimer|renommer|"
    r"(?:a|the|this|that|these|any|each|an|cette|ce|la|le|une?) (?:\w+ )?(?:changes?|rename|removal|upgrade|diff|"
    r"patch|pr|"
    r"modifications?|rewrite|update|migration|mise a jour|refonte))\b"
)
_CHANGED = (
    r"(?:chang\w+|remov\w+|delet\w+|renam\w+|drop\w*|replac\w+|upgrad\w+|bump\w*|disabl\w+|refactor\w*|alter\w*|"
    r"modif\w+|mov\w+|swap\w*|merg\w+|edit\w*|touch\w*|get rid|supprim\w+|renomm\w+|remplac\w+|deplac\w+|retir\w+)"
)
_ABOUT_A_CHANGE = (
    # what breaks
    r"\b(?:what|who|which|anything|something|would|will|could|might|can|does|may|qu'est-ce|ca)\b.{0,40}\b"
    r"(?:breaks?|breaking|casse\w*|stops? working|be broken)\b(?! (?:up|down|loops?|statements?|on|out|point))|"
    r"\b(?:would|'d|could|will|might|may) (?:\w+ )?(?:fail|notice|suffer|hurt)\b|"
    r"\b(?:breaking changes?|blast radius|ripple|knock-on|fallout|repercussions|retest\w*|rerun|re-run|"
    r"how (?:risky|dangerous|safe)|(?:risks?|dangers?) (?:of|if|in)|risque\w*|how widely)\b|"
    # a change that is only thought of
    r"\b(?:if|once|when|after|lorsque|quand|si|s'|apres)\b (?!(?:i|we|you|on|je|j'ai|nous) (?:don'?t|do not|ne|n')\b)"
    rf"(?:i|we|one|you|someone|somebody|on|je|j'|nous|this|that|the|cette|ce|la|le)\b(?: \w+){{0,2}}? ?\b{_CHANGED}\b|"
    rf"\b(?:affect\w*|impact\w*|consequences?|implications?|effects?|happens?|mean)\b.{{0,40}}\b{_CHANGING}|"
    rf"\b{_CHANGING}.{{0,60}}\b(?:affects?|impacts?|hurt|matter|safe|require|mean|touch|reach|propagates?|notice|"
    rf"do to)\b|"
    r"\b(?:is|be|are|gets?|who|what|else|est|sera\w*|which \w+) (?:affected|impacted|impacte\w*|touched)\b|"
    r"\bwhat (?:does|would|will|could|might) (?:it|this|that) (?:affect|impact)\b|\bside effects?|"
    r"\b(?:l'impact|consequences?) (?:d'|de|si|of|if)\b|\bgoes? down (?:if|when)\b|"
    # may it be changed
    rf"\b(?:safe|safely|ok|okay|dangerous|allowed) (?:to|for us to|de) {_CHANGED}\b|"
    rf"^(?:can|could|may|should|puis|peut|pourrait)[- ](?:i|we|this|je|on|it|the \w+)\b.{{0,30}}\b{_CHANGED}\b|"
    r"\b(?:need|needs|have|has|had|must|would i) (?:to )?(?:be |make )?(?:touch|chang|updat|adapt)\w*|"
    r"sans (?:rien casser|risque)"
)
_USER_OF = (
    r"^(?:and |but |so |then |et )?(?:who|what|waht|w(?:hi|i)ch(?: \w+){1,3}|"
    r"(?:what|which|how many|quelles?|quels) (?:\w+ ){0,2}(?:parts|files|modules|places|components|services|parties)"
    r"(?: \w+){0,4}|qui|qu'est-ce qui|quels?(?: \w+){1,2}|"
    r"quelles?(?: \w+){1,2}) (?:(?:all|else|still|also|really|actually|directly|code|is|are|would|will) )*"
    r"(?:calls?|cals|calling|invokes?|uses?|using|l'utilise|imports?|importing|references?|consumes?|depends?|"
    r"depending|"
    r"relies|rely|appelle\w*|utilise\w*|importe\w*|depende?n?t?) (?:up)?(?:on |de |du |into |sur )?"
    r"(?:this|that|it|them|these|the \w+|la \w+|le \w+|cette|ce|name|file|\w*_\w+|[\w'.]+(?: here| in this repo)?\W*$)|"
    r"^(?:and |et )?qui l'|^who (?:else )?(?:instantiates?|writes to|listens?|subscribes|reads|consumes|extends)|"
    r"\b(?:anyone|anybody|anything|any other \w+|something else|anywhere) (?:still |else )*"
    r"(?:calls?|uses?|using|imports?|importing|references?|depends?|relies|rely|reads?)\b|"
    r"^(?:and |et )?(?:from where|where|d'ou|ou)\b.{0,40}\b"
    r"(?:used|called|imported|referenced|invoked|utilisee?s?|appelee?s?|importee?s?)\b(?! (?:by default|par defaut))|"
    r"^(?:and )?where do (?:we|other \w+) (?:use|call|import|instantiate|rely on)\b|"
    r"\b(?:still|anywhere|elsewhere|ailleurs) (?:used|referenced|needed|utilise\w*)|used (?:anywhere|elsewhere)|"
    r"^(?:\w+ ){0,6}(?:callers?|usages?|dependents?|reverse dependenc\w+|call (?:graph|tree|hierarchy)|appelants)\b"
)
_FLAW = (
    r"(?:bugs?|smells?|vulnerabilit\w+|flaws?|weakness\w*|weak (?:points?|spots?)|race conditions?|deadlocks?|"
    r"mistakes?|"
    r"dead code|problems?|issues?|problemes?|failles?|improvements?|leaks?)"
)
_JUDGEMENT = (
    rf"\b(?:any|are there|is there|what|which|where are|see|find|the|des|ont|has|have|no)\b (?:\w+ ){{0,3}}{_FLAW}\b"
    r"(?= (?:in|with|of|here|do|does|can|could|would|dans|de|avec|ici|left)\b|\W*$)|"
    r"\b(?:vulnerable|insecure|swallowed|too (?:complicated|complex|long|slow)|badly|suspicious|malicious code|leaking|"
    r"idiomatic|pythonic|best practices?|well (?:written|structured|tested)|any good|make sense|"
    r"(?:your|ton|votre) (?:opinion|thoughts|feedback|avis)|thoughts on|penses|code quality|quality of|worst|"
    r"what is (?:wrong|bad)|wrong with|anything wrong|go wrong|be (?:improved|better|simplified|cleaner)|"
    r"improve (?:this|my)|"
    r"ne va pas|ameliorer|did i|do i forget|we forget|i miss\w*|oublie|have i (?:made|forgotten|missed)|"
    r"(?:would|could|can|should) (?:you|a senior \w+|one) (?:improve|change|critici[sz]e|refactor|rewrite|"
    r"do differently)|"
    r"do you (?:see|think|find|like|spot)|you see|need refactoring|violates?|"
    r"how (?:good|clean|secure|bad|robust|readable|maintainable)|n\+1|"
    r"(?:could|can|would) (?:an attacker|someone|a malicious \w+)|(?:be|could this be) (?:exploited|attacked)|"
    r"exploitable|"
    r"securise|should i fix|lacks?)\b|"
    r"(?:^|, )(?:is|are|does|looks?|do|est-ce que) (?:this|my|our|it|that|these|mon|ma|mes|ce|your|the code)\b.{0,50}\b"
    r"(?:ok|okay|correct\w*|good|right|secure|safe|safely|efficient|sense|clean|ready|fine|"
    r"thread[- ]safe|readable|complex|complicated)\b|\bcode est-il\b"
)
_WORK = (
    r"\b(?:steps?|tasks?|etapes|work packages?|effort) (?:\w+ ){0,2}(?:to|for|needed|need|necessary|required|"
    r"involved|pour|"
    r"remain\w*)\b|"
    r"\b(?:planifi\w+|paln|roadmap|milestones?|step[- ]by[- ]step|in phases|(?:do|should) (?:i|we) (?:begin|start)|"
    r"par ou commencer|plan (?:to|for|of|pour|de)|(?:a|the|migration) plan\W*$)\b|"
    r"\b(?:in which|in what|what|which|best) order (?:should|do|would|shall|to|could)\b|"
    r"\bhow (?:should|would|could|can|do|might) (?:i|we|you|one) (?:best )?(?:go about|split|break|migrate|port|"
    r"rewrite|"
    r"approach|tackle|redesign|get (?:us )?from|modernis\w+|moderniz\w+|move (?:everything|all|the whole))\b|"
    r"\bwhat (?:would it take|has to happen|needs? to be done)|\b(?:whole|entire) (?:app|application|code ?base|"
    r"project|"
    r"system|platform)\b.{0,40}\b(?:to|into)\b"
)
_TESTING = (
    r"\b(?:tests?|cases?|branches|suite)\b.{0,25}\b(?:missing|not covered|uncovered|untested|fail|failed|pass|passent|"
    r"should i)\b|\b(?:did|what) .{0,12}\bpytest say|results? of the tests|^(?:how|what) about (?:a |some )?tests?\b|"
    r"\bhow (?:should|would|could|can|might) (?:i|we|you|one) (?:unit[- ])?test\b|"
    r"\b(?:un|not |isn't )tested\b|test coverage|"
    r"\b(?:write|add|generate|create|extend|give me) (?:\w+ ){0,3}(?:tests?|specs?|test cases)\b"
)
_WHY = re.compile(r"^(?:and |but |so |et |mais )?(?:why|pourquoi)\b")
_PARTICULAR: dict[Intent, re.Pattern[str]] = {
    "IMPACT": re.compile(f"{_ABOUT_A_CHANGE}|{_USER_OF}"),
    "REVIEW": re.compile(_JUDGEMENT),
    "DECOMPOSE": re.compile(_WORK),
    "TEST": re.compile(_TESTING),
}
PARTICULAR_INTENTS = tuple(_PARTICULAR)


def asked(core: str) -> str:
    """The sentence of a request that asks a question, '' for none.

    Args:
        core: the request, normalized.

    Returns:
        The last sentence with a question mark that has the form of a question; without a question mark anywhere, the
        last sentence that begins with a question word.
    """
    sentences = [s for s in _SENTENCE_END.split(core) if s]
    marked = [s for s in sentences if s.endswith("?")]
    if marked:
        return next((s for s in reversed(marked) if _is_question(s)), "")
    return next((s for s in reversed(sentences) if _BEGINS_WITHOUT_MARK.search(s)), "")


def is_plain(core: str) -> bool:
    """Whether a request is a plain question, which asks neither about a change nor for a judgement, a plan or tests."""
    question = asked(core)
    return bool(question) and not any(_orders(core)) and particular(question) is None


def particular(question: str) -> Intent | None:
    """The intent that a question speaks for rather than EXPLAIN, None for none."""
    if _WHY.search(question):
        return None
    return next((intent for intent, pattern in _PARTICULAR.items() if pattern.search(question)), None)


def _is_question(sentence: str) -> bool:
    if _IMPERATIVE.search(sentence):
        return False
    return bool(_BEGINS.search(sentence) or _CLAUSE.search(sentence))


def _orders(core: str) -> Iterator[str]:
    """Those of the sentences that order a change."""
    return (s for s in _SENTENCE_END.split(core) if _IMPERATIVE.search(s))


_ONLY_TESTS = re.compile(
    r"\W*(?:(?:please|could you|can you|peux-tu) )?(?:write|add|generate|create|[ée]cri\w+|ajoute\w*|g[ée]n[èée]re\w*) "
    r"(?:(?:some|an?|more|new|the|missing|unit|des|une?|les|nouveaux|me|moi) )*tests?(?: (?:cases?|unitaires?))? "
    r"(?:for|of|covering|pour|de|du) (?P<of>.+)",
    re.I,
)
_MORE = re.compile(r"\b(?:and|then|et|puis)\b(?! `?\w+`?[.!]?$)")


def asks_only_for_tests(task: str) -> bool:
    """Whether a task asks for tests of something that is there, and for nothing else.

    Args:
        task: as the user wrote it.
    """
    match = _ONLY_TESTS.fullmatch(task.strip()) if "\n" not in task.strip() else None
    return match is not None and _MORE.search(match["of"]) is None
