"""Calls in Python that a value from outside must not reach unchecked: of files, addresses, commands, SQL, HTML."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from repopilot.review.rules.python.taint import built, checked, sources
from repopilot.review.rules.python.tree import PYTHON, PythonTree, at, called, dotted, names_in, on_tree
from repopilot.review.rules.rule import Match, Rule
from repopilot.types import Severity

_NAMED = frozenset({"url", "location", "redirect_to", "pattern", "source", "sql", "statement", "query"})
_ROUTES = re.compile(r"(^|\.)(route|get|post|put|patch|delete)$")


@dataclass(frozen=True, slots=True)
class Sink:
    """A kind of call that is dangerous with a value from outside.

    Attributes:
        calls: the dotted name of what is called.
        first_only: only the first argument, or one of the names in `_NAMED`, is dangerous.
        checkable: a test of the value in the same function may make it harmless.
        beginning: only the beginning of a text matters: `/path?` + anything leads to the same host.
    """

    calls: re.Pattern[str]
    first_only: bool = False
    checkable: bool = False
    beginning: bool = False

    def matches(self, tree: PythonTree) -> Iterator[Match]:
        """Calls whose argument comes from a request, unless it was cleaned or compared with what is allowed."""
        if not tree.mentions_outside:
            return
        for call in tree.of(ast.Call):
            if self.calls.search(tree.called(call)) and self._is_tainted(tree, call):
                yield at(call)

    def _is_tainted(self, tree: PythonTree, call: ast.Call) -> bool:
        scope = tree.scope(call)
        tainted = [a for a in self._arguments(call) if "request" in sources(tree, self._dangerous(tree, a), scope)]
        return bool(tainted) and not (self.checkable and checked(tree, call, tainted))

    def _arguments(self, call: ast.Call) -> list[ast.expr]:
        if not self.first_only:
            return list(call.args)
        return [*call.args[:1], *(k.value for k in call.keywords if k.arg in _NAMED)]

    def _dangerous(self, tree: PythonTree, argument: ast.expr) -> ast.expr:
        return _beginning(tree, argument) if self.beginning else argument


def _beginning(tree: PythonTree, node: ast.expr, depth: int = 0) -> ast.expr:
    """What a text begins with, through names that were assigned once."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _beginning(tree, node.left, depth)
    if isinstance(node, ast.JoinedStr) and node.values:
        first = node.values[0]
        return _beginning(tree, first.value if isinstance(first, ast.FormattedValue) else first, depth)
    if isinstance(node, ast.Name) and depth < 3:
        values = tree.values(node, node.id)
        return _beginning(tree, values[0], depth + 1) if values and _grows_from(values, node.id) else node
    return node


def _grows_from(values: list[ast.expr], name: str) -> bool:
    """Assigned once, or afterwards only from itself, as in `url = f"{url}?{query}"`."""
    return all(name in names_in(value) for value in values[1:])


def _pages(tree: PythonTree) -> Iterator[Match]:
    """HTML put together with text from a request: marked as safe, or returned as a page."""
    yield from _MARKED.matches(tree)
    for node in tree.of(ast.Call, ast.Return):
        value = node.value if isinstance(node, ast.Return) else node.args[0] if node.args else None
        if value is None or not _is_response(tree, node):
            continue
        parts = built(_only_value(tree, value))
        if (
            parts
            and re.search(r"<\w", parts[0])
            and any("request" in sources(tree, h, tree.scope(node)) for h in parts[1])
        ):
            yield at(node)


def _is_response(tree: PythonTree, node: ast.Call | ast.Return) -> bool:
    if isinstance(node, ast.Call):
        return bool(_RESPONSES.search(called(node)))
    function = tree.function(node)
    return function is not None and any(_ROUTES.search(dotted(d)) for d in function.decorator_list)


def _only_value(tree: PythonTree, value: ast.expr) -> ast.expr:
    """What a name was assigned, where that happens once; any other expression as it is."""
    values = tree.assigned.get((tree.scope(value), value.id), []) if isinstance(value, ast.Name) else []
    return values[0] if len(values) == 1 else value


_RESPONSES = re.compile(r"(^|\.)(HttpResponse|make_response|Response|HTMLResponse|PlainResponse)$")
_MARKED = Sink(re.compile(r"(^|\.)(Markup|mark_safe|HTMLResponse|format_html)$"))
_FILES = Sink(
    re.compile(
        r"^(open|io\.open|codecs\.open|os\.(remove|unlink|rename|rmdir|listdir|makedirs|path\.join)|send_file|FileResponse|"
        r"shutil\.(copy|copy2|copyfile|copytree|move|rmtree|make_archive|unpack_archive))$"
    ),
    checkable=True,
)
_FETCHES = Sink(
    re.compile(r"^(requests|httpx)\.(get|post|put|delete|head|patch|request)$|urlopen$|^aiohttp\.\w+\.get$"),
    first_only=True,
    checkable=True,
)
_REDIRECTS = Sink(
    re.compile(r"(^|\.)(redirect|RedirectResponse|HttpResponseRedirect)$"),
    first_only=True,
    checkable=True,
    beginning=True,
)
_TEMPLATES = Sink(re.compile(r"(^|\.)(render_template_string|Template|from_string)$"), first_only=True)
_COMMANDS = Sink(re.compile(r"^(os\.(system|popen|exec\w+)|subprocess\.\w+|commands\.getoutput)$"), checkable=True)
_CODE = Sink(re.compile(r"^(eval|exec|__import__|importlib\.import_module|compile)$"), checkable=True)
_PICKLES = Sink(re.compile(r"^(pickle|cPickle|dill|marshal|shelve|joblib|cloudpickle)\.(loads?|open)$"))
_STATEMENTS = Sink(re.compile(r"(^|\.)(execute|executemany|executescript|raw|text)$"), first_only=True)


def _rule(
    rule_id: str,
    severity: Severity,
    cwe: int,
    check: Sink | Callable[[PythonTree], Iterable[Match]],
    bad: str,
    good: str,
) -> Rule:
    find = on_tree(check.matches if isinstance(check, Sink) else check)
    return Rule(rule_id, "security", severity, PYTHON, find, bad, good, cwe)


RULES = (
    _rule(
        "path-traversal",
        "high",
        22,
        _FILES,
        "def f(request):\n    name = request.args['f']\n    return open('/d/' + name)\n",
        "def f(request):\n    name = {'a': 'x.txt'}.get(request.args['f'], 'y.txt')\n    return open(name)\n",
    ),
    _rule(
        "ssrf",
        "high",
        918,
        _FETCHES,
        "import requests\ndef f(request):\n    return requests.get(request.GET['u'], timeout=3)\n",
        "import requests\ndef f(request):\n    return requests.get('https://a/b', params=request.GET, timeout=3)\n",
    ),
    _rule(
        "open-redirect",
        "medium",
        601,
        _REDIRECTS,
        "def f(request):\n    return redirect(request.args.get('next'))\n",
        "def f(request):\n    if is_safe_url(request.args.get('next')):\n"
        "        return redirect(request.args.get('next'))\n"
        "    url = reverse('home')\n    return redirect(f'{url}?{request.GET.urlencode()}')\n",
    ),
    _rule(
        "template-injection",
        "critical",
        1336,
        _TEMPLATES,
        "def f(request):\n    return render_template_string(request.form['t'])\n",
        "def f(request):\n    return render_template_string('{{ name }}', name=request.form['n'])\n",
    ),
    _rule(
        "cross-site-scripting",
        "high",
        79,
        _pages,
        "def f(request):\n    return HttpResponse('<h1>' + request.GET['n'] + '</h1>')\n",
        "from html import escape\ndef f(request):\n"
        "    return HttpResponse('<h1>' + escape(request.GET['n']) + '</h1>')\n",
    ),
    _rule(
        "shell-injection",
        "critical",
        78,
        _COMMANDS,
        "import os\ndef f(request):\n    os.system('ping ' + request.args['host'])\n",
        "import os, sys\ndef restart():\n    os.execv(sys.executable, sys.argv)\n",
    ),
    _rule(
        "code-injection",
        "critical",
        95,
        _CODE,
        "def f(request):\n    return eval(request.POST['expression'])\n",
        "def f(request):\n    return int(request.POST['expression'])\n",
    ),
    _rule(
        "unsafe-deserialisation",
        "critical",
        502,
        _PICKLES,
        "import pickle\ndef f(request):\n    return pickle.loads(request.data)\n",
        "import json\ndef f(request):\n    return json.loads(request.data)\n",
    ),
    _rule(
        "sql-injection",
        "critical",
        89,
        _STATEMENTS,
        "def f(c, request):\n    c.execute(\"SELECT a FROM t WHERE b = '%s'\" % request.args['b'])\n",
        "def f(c, request):\n    c.execute('SELECT a FROM t WHERE b = ?', (request.args['b'],))\n",
    ),
)
