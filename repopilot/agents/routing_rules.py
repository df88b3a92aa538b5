"""Rules that name the evidence for each intent in a request, English and French. They are features of the classifier
and, added up, a score that is fused with its log-probabilities. Pure."""

from __future__ import annotations

import math
import re

from repopilot.agents.routing_harm import harm_evidence, harm_score
from repopilot.agents.routing_text import Reading
from repopilot.types import Intent

INTENTS: tuple[Intent, ...] = ("EXPLAIN", "GENERATE", "TEST", "REVIEW", "IMPACT", "DECOMPOSE", "REFUSE")

_CHANGE = (
    r"add|create|write|implement|make|build|fix|fxi|change|update|refactor|rename|replace|remove|delete|move|convert|turn|use|set|enable|disable|"
    r"extract|split|inline|simplify|rewrite|port|translate|document|generate|scaffold|allow|support|let|expose|return|raise|throw|catch|handle|"
    r"ensure|avoid|prevent|stop|cache|memoi[sz]e|store|send|log|print|sort|filter|round|format|paginate|debounce|increase|decrease|reduce|bump|pin|"
    r"clean|get rid|dedup\w*|combine|merge|put|wrap|validate|saniti[sz]e|encrypt|hash|rotate|mask|escape|patch|block|drop|kill|terminate|wipe|"
    r"truncate|anonymi[sz]e|compute|plot|export|introduce|apply|undo|revert|try again|do it|finish|complete|configure|install|optimi[sz]e|speed up|"
    r"improve|show the|insert|develop|adapt|dedupe|correct|rebuild|compress|render|open|close|register|save|load|fill|force|limit|bring|vectori[sz]e|swap|get rid|solve|repair|"
    r"display|give me (?:a|an|code|the code)|draft|hook|connect|parse|strip|upgrade|migrate|swap|switch|"
    r"ajoute\w*|cree\w*|ecri[ts]\w*|corrige\w*|remplace\w*|supprime\w*|modifie\w*|implemente\w*|renomme\w*|refactorise\w*|deplace\w*|transforme\w*|"
    r"traduis|genere\w*|optimise\w*|mets|rends|fais|convertis|utilise\w*|retire\w*|ajouter|corriger|ecrire|creer|faire|"
    r"fuge|schreibe|behebe|agrega|escribe|arregla|anade"
)
_MAKE_TESTS = (
    r"add|write|wirte|create|generate|make|need|want|extend|parametri[sz]e|fix|cover|missing|run|re-?run|execute|more|give me|provide|"
    r"ajoute|ecris|cree|genere|lance|relance|execute|manque|veux|implement|build|prepare|set up|use|rewrite|produce|draft"
)
_WIDE = (
    r"whole|entire|full|(?:a|the|our) complete|completely|everything|everywhere|throughout|across|every service|all (?:our |the |of our )?(?:services|pages|packages|apps|"
    r"screens|modules|clients|controllers|tests|machines|class components|projects)|code ?base|platform|from scratch|end to end|tout le|toute l|tous les|partout|complete de"
)
_THING_AT_RISK = r"change|changing|remove|removing|delete|deleting|rename|renaming|drop|dropping|move|moving|replace|replacing|upgrade|upgrading|bump|bumping|switch|disable|refactor|edit|alter|make|touch|turn off|get rid of|kill|modify|merge|supprim\w+|modifi\w+|renomm\w+|chang\w+"

# name: (intent, weight, pattern)
RULES: dict[str, tuple[Intent, float, str]] = {
    "explain_verb": (
        "EXPLAIN",
        1.8,
        r"^(?:explain|describe|clarify|elaborate|eli5|compare|walk me|take me through|tell me (?:about|how|what|why|where)|"
        r"explique|decris|dis-moi|help me understand|understand|show me (?:how|where)|erklare)",
    ),
    "overview": (
        "EXPLAIN",
        1.2,
        r"\b(?:overview|summary|summari[sz]e|short description|in plain english|resume\b|difference between|meaning of|purpose of|mean\b|means\b|"
        r"walk me through|more details|flow$|schema$|order$|architecture$|design patterns|pros and cons|which \w+ is that|any idea why|like to know|i don'?t understand|understand how|figure out|a quoi ser[tv]|c'est quoi|qu'est-ce que|role de)",
    ),
    "question_word": (
        "EXPLAIN",
        0.9,
        r"^(?:what|waht|which|wich|where|why|how|hwo|when|who|whose|wat|in which|at what|on which|ou|comment|pourquoi|que\b|quel\w*|quand|qu'|wie|wo|wer|was|warum|como|quien|donde|je ne comprends)\b",
    ),
    "yes_no": ("EXPLAIN", 0.5, r"^(?:is|are|does|do|did|was|were|has|have|can|could|should|est-ce|y a-t-il)\b"),
    "how_works": (
        "EXPLAIN",
        1.0,
        r"\b(?:how (?:does|dose|do|is|are|was|did|come|often|many|to|can i|do i|would)|why (?:is|are|does|do|did|was|would|isn'?t)|what (?:does|do|is|are|happens (?:when|if|after))|"
        r"where (?:is|are|does|do|did)|comment (?:fonctionne|marche|est|sont|lancer)|ou (?:est|sont|se trouve)|que fait)",
    ),
    "locate": (
        "EXPLAIN",
        0.8,
        r"^(?:find|locate|look up|search for|show me|list)\b.*\b(?:definition|where|code (?:for|that)|place where|defined|endpoints|methods|function that|env\w* variables)",
    ),
    "change_verb": ("GENERATE", 1.3, rf"^(?:{_CHANGE})\b"),
    "change_later": ("GENERATE", 0.5, rf"[,.;:)!-] ?(?:please |pls |then |and )?(?:{_CHANGE})\b"),
    "fix": (
        "GENERATE",
        1.0,
        r"\b(?:fix|pls fix|fxi|repair|correct (?:that|this|it)|make it|instead of|rather than|do it without|again with)\b",
    ),
    "wish": (
        "GENERATE",
        0.8,
        r"^(?:i|we|the|a|il)\b.*\b(?:want|need|should|would like|'d like|must|has to|faut|voudrais|ought)\b",
    ),
    "adjust": (
        "GENERATE",
        0.9,
        r"\b(?:same for|also (?:handle|log|support|add)|without the|no, keep|not like that|shorter|undo|option \d|your suggestion|now in \w+|keep the)\b",
    ),
    "make_tests": (
        "TEST",
        2.3,
        rf"\b(?:{_MAKE_TESTS})\b.{{0,60}}\b(?:unit|integration|e2e|smoke|regression|jest|pytest|cypress|selenium|snapshot|property|load|cas de)?[ -]?"
        r"(?:tests?|tset|tset cases|test cases|specs?|test suite|unittests?|doctests?|cases for|testbench|tests unitaires)\b",
    ),
    "test_verb": (
        "TEST",
        2.2,
        r"^(?:test|fuzz|stress test|load test|unit test|teste|retest|cover|couvre|benchmark test|reproduce the bug in|simulate)\b",
    ),
    "test_command": (
        "TEST",
        2.6,
        r"^(?:pytest|npm (?:run )?test|yarn test|go test|cargo test|mvn test|make test|gradle test|tox|ctest|rerun|re-run|run (?:\w+ ){0,3}(?:tests?|pytest|specs?|suite)|run (?:them|it) again|execute)\b",
    ),
    "tests_for": (
        "TEST",
        1.5,
        r"\b(?:unit ?tests?|uint tests|tests?|tests (?:unitaires|d'integration)|test cases|specs?|xunit|rspec|junit|jest|pytest|mocha|vitest|playwright)\b(?: tests?)? (?:for|of|in|with|that|to|pour|covering|against|please)",
    ),
    "test_word": (
        "TEST",
        1.2,
        r"^(?!.*\b(?:test (?:button|flag|database|helper|fixture)|skip the tests)\b).*\b(?:unit ?tests?|uint tests|tests?|tset|specs?|doctests?|googletest|scenarios|unittests|test_\w+|pruebas|unit-tests)\b",
    ),
    "coverage": (
        "TEST",
        1.3,
        r"\b(?:coverage|couverture|assertions?|an assert|fixtures?|with a test|via a test|tests? pass|with tests|tests? (?:green|again))\b",
    ),
    "about_tests": (
        "EXPLAIN",
        1.6,
        r"^(?:how|what|where|which|explain|why|ou|comment)\b.{0,60}\b(?:tests?|mocks?|fixtures?|test suite|conftest)\b",
    ),
    "review_word": (
        "REVIEW",
        2.4,
        r"\b(?:review|reviw|reveiw|code review|feedback|opinions?|thoughts on|critique|critici[sz]e|audit|nitpick|roast|lgtm|ready to merge|approve|"
        r"second opinion|proofread|sanity check|double check|ship it|pr comments|relecture|relis|revue de code|ton avis|lint)\b",
    ),
    "review_find": (
        "REVIEW",
        2.2,
        r"^(?:find|look for|look into|search|spot|identify|point out|detect|scan|check|hunt|cherche|trouve|verifie|analyse|analyze|inspect|list)\b.{0,80}\b(?:bugs?|issues?|problems?|problemes?|vulnerabilit\w+|mistakes?|"
        r"leaks?|smells?|dead (?:code|branches)|unused|duplicat\w+|race conditions?|deadlocks?|bottlenecks?|secrets?|weakness\w*|injection|failles?|anti-?patterns|bad practices|inefficien\w+|too (?:much|long|complex)|sensitive|unsafe|null pointer|erreurs?|quality|qualite|credentials|injurious|regressions|weird)",
    ),
    "review_any": (
        "REVIEW",
        2.0,
        r"\b(?:any|are there|is there|do you see|see any|y a-t-il|anything|something) (?:\w+ ){0,3}(?:bugs?|issues?|problems?|wrong|mistakes?|concerns?|holes?|leaks?|smells?|vulnerabilit\w+|suspicious|improve|forgot\w*|missed|failles|erreurs|unhandled|injection|places where|race)\b",
    ),
    "check_verb": (
        "REVIEW",
        1.2,
        r"^(?:check|inspect|scan|audit|evaluate|assess|analy[sz]e|verify|look (?:for|over|at|into)|go (?:over|through)|tear|identify|run (?:the linter|bandit|ruff|a linter)|double check|verifie|prufe|revisa|examine|merge that|approve)\b",
    ),
    "flaw": (
        "REVIEW",
        1.3,
        r"\b(?:bugs?|smells?|vulnerabilit\w+|vulnerable|insecure|badly|violat\w+|worst|leak(?:s|ing)?|swallowed|mistakes?|flaws?|weakness\w*|escalate|hard ?coded|n\+1|too complicated|quadratic|crash here|forget to|refactoring most|how (?:good|clean|secure)|security check|quality|suspicious|malicious code|is that safe|no bug|bad about|rate this|penses|performance (?:problems?|issues)|problemes de|erreurs|errores|sicher|oublie)\b",
    ),
    "review_is_it": (
        "REVIEW",
        1.6,
        r"\b(?:is|are|does|looks?|est-ce que)\b (?:this|my|our|the|it|that|mon|ce|your)?.{0,50}\b(?:ok|okay|correct|good|right|secure|safe\?|safely|idiomatic|pythonic|efficient|best practices|vulnerable|any good|make sense|securise|well written|clean)\b",
    ),
    "review_wrong": (
        "REVIEW",
        1.8,
        r"\b(?:what is (?:wrong|bad)|what (?:could|can|should) be (?:improved|better)|what would you (?:change|improve)|ne va pas|ameliorer|how (?:can|could) (?:i|we) improve|did i (?:miss|forget)|i (?:forgot|missed)|have i made|weak points?|what bugs|"
        r"rate (?:the|this)|judge|grade|assess the|evaluate the|code quality|what do you think|que penses|look (?:over|at) (?:my|this|the)|have a look|take a look|check my|could (?:someone|an attacker|this)|can this be exploited)",
    ),
    "uses": (
        "IMPACT",
        2.2,
        r"\b(?:who|what|which|anyone|anybody|anything|anywhere|any other|does|do|qui|quels?|quelles?)\b.{0,40}\b(?:calls?|cals|calling|uses?|using|imports?|importing|references?|referencing|depends?|relies|rely|consumes?|reads? this|extends?|subclass\w*|appelle|utilise\w*|depend\w*|couvrent|cover|use\b|usa)\b",
    ),
    "which_does": (
        "IMPACT",
        1.2,
        r"^(?:which|wich|what|who|quels?|quelles?|qui|wer) (?:\w+ ){0,3}(?:implements?|extends?|includes?|writes? to|talks? to|goe?s? through|touch|listens?|subscribes?|notice|queries|inherits?|ruft|incluent|appelle\w*|ecrivent)\b",
    ),
    "this_change": (
        "IMPACT",
        1.1,
        r"\b(?:this|the|that) (?:change|diff|rename|removal|upgrade|modification)\b|breaking changes?|(?:causes?|cause) (?:problems?|trouble)|retest|other users of|lasche|losche|se rompe",
    ),
    "where_used": (
        "IMPACT",
        2.4,
        r"\b(?:where|from where|ou|d'ou)\b.{0,60}\b(?:used|called|imported|referenced|invoked|utilisee?s?|appelee?s?)\b|\b(?:still|anywhere|else|elsewhere) (?:used|referenced|needed)|used (?:anywhere|elsewhere|by)|utilise ailleurs",
    ),
    "usages": (
        "IMPACT",
        2.2,
        r"\b(?:callers?|usages?|references (?:to|of)|dependents?|dependenc(?:y|ies) (?:graph|tree|of)|reverse dependenc\w+|call (?:graph|tree|hierarchy)|subclasses of|everything (?:that )?(?:uses|depends|affected)|places (?:where|that|would)|appelants|downstream)\b",
    ),
    "break": (
        "IMPACT",
        1.8,
        r"\b(?:what|would|will|could|does|can|which|anything|something|may|might|without|is it)\b.{0,70}\b(?:breaks?|breaking|broken|fail|stops? working|hurt|casse\w*|casser)\b",
    ),
    "affected": (
        "IMPACT",
        2.0,
        r"\b(?:affect\w*|impact\w*|consequences?|implications?|blast radius|ripple|knock-on|side effects?|fallout|repercussions|breaking change|backwards? compat\w+|risk of|risks of|how risky|is it risky|risk assessment|risque)\b",
    ),
    "if_i_change": (
        "IMPACT",
        1.7,
        rf"\b(?:if|when|before|suppose|say|si) (?:i|we|you|this|that|je|on|nous)?\b.{{0,25}}\b(?:{_THING_AT_RISK})\w*",
    ),
    "safe_to": (
        "IMPACT",
        2.2,
        rf"\b(?:safe|safely|risky|dangerous|ok|okay|risque) (?:to|de|for us to)?\s?(?:{_THING_AT_RISK})|\b(?:can|could|may|should|puis|peut)[- ](?:i|we|this|je|on)\b.{{0,20}}\b(?:{_THING_AT_RISK})|sans (?:rien casser|risque)",
    ),
    "what_else": (
        "IMPACT",
        1.3,
        r"\bwhat else\b|\bhow (?:many|much) (?:places|files|code|callers)|\bwhich (?:tests|files|parts|modules|services|endpoints|pages)\b.{0,40}\b(?:if|affected|change|touch|fail|retest)",
    ),
    "plan_word": (
        "DECOMPOSE",
        2.6,
        r"\b(?:plan|paln|planifie|planning|roadmap|feuille de route|milestones?|phases|subtasks|sous-taches|tickets|epic|step[- ]by[- ]step|break (?:it|this|that|these|the (?:\w+ ){1,3})?(?:down|up|into (?:\w+ )?(?:tasks|steps|parts|pieces|tickets|milestones))|breka|decompose|decoupe\w*|work breakdown|strategy|strategie|estimate|scope the work|in which order|what order|list the parts)\b",
    ),
    "steps": (
        "DECOMPOSE",
        1.6,
        r"\b(?:the steps|the tasks needed|production ready|organi[sz]e the work|too big|best order|split it|compliant|what steps|les etapes|into (?:tasks|steps|parts|pieces|smaller|milestones|tickets)|needs? to be done|what has to happen|outline (?:the|a|how)|how should we|how would you go|where do i begin|in stages)\b",
    ),
    "migrate": (
        "DECOMPOSE",
        1.7,
        r"\b(?:migrate|migrating|migration (?:from|to|path|vers)|migre\w*|port the|rewrite (?:the|all|it)|re-?architect|rebuild|redesign|modernis\w+|moderniz\w+|refonte|reecris tout|go from|move (?:everything|all|our|from)|switch (?:the entire|the whole|from|all)|upgrade|get (?:us|this|the whole)|split the|replace (?:our|the whole))\b",
    ),
    "wide": ("DECOMPOSE", 1.3, rf"\b(?:{_WIDE})\b"),
    "sequence": (
        "DECOMPOSE",
        1.4,
        r"\bfirst\b.*\bthen\b|\bthen\b.*\bthen\b|\band finally\b|1[.)].*2[.)]|, and also\b.*\band\b|then .*(?:at the end|after that)",
    ),
    "proceed": ("DECOMPOSE", 1.2, r"^(?:proceed|continue|go on|next step|next part|skip part|carry on|continue avec)"),
    "big": (
        "DECOMPOSE",
        1.2,
        r"^(?:big|large|epic|project|design and (?:build|implement)|todo list)\b|\b(?:multi[- ]?tenant|microservices?|admin panel|architecture|(?:chat|mobile|expense|desktop|web) app|e-commerce|saas|clone of|platform|portal|crm|system with|infrastructure|event sourcing|multi-\w+ support)\b",
    ),
}
_COMPILED = {name: (intent, weight, re.compile(pattern)) for name, (intent, weight, pattern) in RULES.items()}
_LIST = re.compile(r",| and | et |;")
_ABOUT_CODE = re.compile(r"^(?:what|which|where|why|who|how (?:does|is|are|do))")


def evidence(reading: Reading) -> dict[str, float]:
    """Every named piece of evidence, 0 or 1 (counts are squashed to 0–1), always with the same keys in the same order."""
    core = reading.core
    found = {name: float(bool(pattern.search(core))) for name, (_, _, pattern) in _COMPILED.items()}
    found |= harm_evidence(core)
    words = len(core.split())
    items = len(_LIST.findall(core))
    found |= {
        "length": min(1.0, math.log1p(words) / 4),
        "short": float(words <= 4),
        "empty": float(not core),
        "list_items": min(1.0, items / 5),
        "long_list": float(items >= 3),
        "colon_list": float(":" in core and items >= 2),
        "code": float(reading.code),
        "trace": float(reading.trace),
        "path": float(reading.path),
        "question_mark": float(reading.question_mark),
    }
    found["change_and_wide"] = found["change_verb"] * max(found["wide"], found["migrate"])
    found["asks_about_code"] = float(bool(_ABOUT_CODE.search(core)))
    return found


def scores(found: dict[str, float]) -> dict[Intent, float]:
    """The additive score of each intent, at most 4; without any evidence at all, by the shape of the sentence."""
    total: dict[Intent, float] = dict.fromkeys(INTENTS, 0.0)
    for name, (intent, weight, _) in _COMPILED.items():
        total[intent] += weight * found[name]
    total["DECOMPOSE"] += (
        1.3 * found["change_and_wide"] + 1.6 * found["change_verb"] * found["long_list"] + 0.6 * found["colon_list"]
    )
    _settle_trace(found, total)
    _settle_questions(found, total)
    harm = total["REFUSE"] = harm_score(found)
    if harm >= 1.8:
        total["REFUSE"] = max(harm, 0.5 + max(total.values()))
    if not any(value > 0 for value in total.values()):
        total["EXPLAIN" if found["question_mark"] else "GENERATE"] += 0.5
    return {intent: max(-2.0, min(4.0, value)) for intent, value in total.items()}


def _settle_trace(found: dict[str, float], total: dict[Intent, float]) -> None:
    """A pasted traceback alone asks what it means; with a request beside it, it asks for a fix."""
    if found["trace"] and found["empty"]:
        total["EXPLAIN"] += 1.5
    elif found["trace"] and not found["question_mark"] and not found["question_word"]:
        total["GENERATE"] += 0.8


def _settle_questions(found: dict[str, float], total: dict[Intent, float]) -> None:
    """A question is an explanation only as long as it shows no sign of something more particular."""
    if found["asks_about_code"] and not found["safe_to"]:
        total["TEST"] -= 1.2
        total["GENERATE"] -= 0.8
    particular = max(total["IMPACT"], total["REVIEW"], total["DECOMPOSE"])
    if particular >= 1.1 and not found["explain_verb"] and not found["about_tests"]:
        total["EXPLAIN"] -= 1.0


def signs(intent: Intent, found: dict[str, float]) -> tuple[str, ...]:
    """The rules that spoke for an intent, strongest first, at most three, in words."""
    spoke = [(weight, name) for name, (of, weight, _) in _COMPILED.items() if of == intent and found[name]]
    return tuple(name.replace("_", " ") for _, name in sorted(spoke, reverse=True)[:3])
