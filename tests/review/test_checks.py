"""What the analysers find in small pieces of code, and what they leave alone."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from repopilot.agents.review import linters
from repopilot.agents.review.engine import ANALYSERS, run_on
from repopilot.agents.review.rules.polyglot.parsed_source import parse_source
from repopilot.agents.review.scope import ReviewTarget
from repopilot.code.file_version import code
from repopilot.code.languages import language_of
from repopilot.sandbox.linter_runs import temporary_copies
from repopilot.types import Finding


def found(path: str, text: str) -> list[Finding]:
    target = ReviewTarget(code(path, text, language_of(path) or ""))
    return [f for analyser in ANALYSERS for f in run_on(analyser, [target])[0]]


def rules(path: str, text: str) -> set[str]:
    return {f.rule for f in found(path, text)}


def rules_of_each(texts: Sequence[str]) -> dict[str, set[str]]:
    """The rules found in each of many Python texts, each a file of its own: one start of every linter for all."""
    targets = [ReviewTarget(code(f"pkg/a{number}.py", text, "python")) for number, text in enumerate(texts)]
    by_path: dict[str, set[str]] = {target.new.path: set() for target in targets}
    for analyser in ANALYSERS:
        for finding in run_on(analyser, targets)[0]:
            by_path[finding.path].add(finding.rule)
    return {text: by_path[f"pkg/a{number}.py"] for number, text in enumerate(texts)}


PYTHON = {
    "path-traversal": "def f(request):\n    name = request.args['f']\n    return open('/d/' + name)\n",
    "ssrf": "import requests\ndef f(request):\n    return requests.get(request.GET['u'], timeout=3)\n",
    "open-redirect": "def f(request):\n    return redirect(request.args.get('next'))\n",
    "template-injection": "def f(request):\n    return render_template_string(request.form['t'])\n",
    "weak-random": "import random\ndef new_token():\n    return random.randint(1, 9)\n",
    "timing-attack": "def f(signature, expected_signature):\n    return signature == expected_signature\n",
    "unverified-token": "import jwt\ndef f(t):\n    return jwt.decode(t, options={'verify_signature': False})\n",
    "secret-logged": "import logging\nlog = logging.getLogger()\ndef f(password):\n    log.info('in %s', password)\n",
    "assert-as-check": "def f(user):\n    assert user.is_admin\n    return 1\n",
    "mass-assignment": "def f(request):\n    return User(**request.json)\n",
    "insecure-cookie": "def f(r):\n    r.set_cookie('a', 'b', secure=False)\n",
    "B602": "import subprocess\ndef f(x):\n    subprocess.run('ls ' + x, shell=True)\n",
    "sql-concatenation": "def f(c, x):\n    c.execute(\"SELECT a FROM t WHERE b = '%s'\" % x)\n",
    "secret-password": "DB_PASSWORD = 'hunter2!xyz9'\n",
    "query-in-loop": "def f(session, xs):\n    for x in xs:\n        session.query(x)\n",
    "shifted-list": "def f(x):\n    out = [x]\n    while out:\n        out.extend(out.pop(0))\n",
    "C901": "def f(x):\n" + "".join(f"    if x == {n}:\n        return {n}\n" for n in range(12)),
    "F821": "def f():\n    return missing\n",
    "B006": "def f(a=[]):\n    return a\n",
    "E722": "try:\n    f = 1\nexcept:\n    f = 2\n",
    "invalid-syntax": "def f(:\n",
    "A001": "def f():\n    list = 3\n    return list\n",
}


@pytest.mark.parametrize("rule", PYTHON)
def test_python_faults_are_found(rule: str, reviewed: dict[str, set[str]]) -> None:
    assert rule in reviewed[PYTHON[rule]]


CLEAN = [
    "def f(c, x):\n    c.execute('SELECT a FROM t WHERE b = ?', (x,))\n",
    "def f(session, xs):\n    rows = session.query(xs)\n    return [r.id for r in rows]\n",
    "from w import secure_filename\ndef f(request):\n    return open(secure_filename(request.args['f']))\n",
    "import sys\ndef main():\n    with open(sys.argv[1]) as file:\n        return file.read()\n",
    "def f(password, confirm_password):\n    return password == confirm_password\n",
    "def f(tok):\n    return tok.kind == 'secret'\n",
    "def f(xs):\n    seen = set()\n    for x in xs:\n        if x not in seen:\n            seen.add(x)\n",
    "def f(n):\n    total = 0\n    for x in range(n):\n        total += x\n    return total\n",
    "import random\ndef shuffle_cards(cards):\n    random.shuffle(cards)\n    return random.choice(cards)\n",
    "def gen():\n    return\n    yield\n",
    "def walk(node):\n    return 1 + walk(node.left) + walk(node.right)\n",
    "import os\ndef f():\n    return os.environ['TOKEN']\n",
    "class A:\n    list = 3\n",
]


@pytest.mark.parametrize("text", CLEAN)
def test_clean_python_stays_clean(text: str, reviewed: dict[str, set[str]]) -> None:
    assert reviewed[text] - {"F821", "B311", "C901"} == set()


@pytest.fixture(scope="module")
def reviewed() -> dict[str, set[str]]:
    """The rules found in each text of this module."""
    return rules_of_each([*PYTHON.values(), *CLEAN])


OTHERS = {
    "a.js": [
        ("sql-concatenation", 'const q = "SELECT a FROM t WHERE b = " + req.query.id;\n'),
        ("sql-concatenation", "db.query(`SELECT a FROM t WHERE b = ${id}`);\n"),
        ("eval", "eval(code);\n"),
        ("empty-catch", "try { f() } catch (e) { }\n"),
        ("path-traversal", "fs.readFile(req.query.name, done);\n"),
        ("tls-off", "const o = { rejectUnauthorized: false };\n"),
        ("weak-random", "const token = Math.random().toString(36);\n"),
        ("query-in-loop", "for (const u of us) { rows.push(db.query(u)); }\n"),
        ("query-in-loop", "us.map(u => db.findOne(u.id));\n"),
        ("await-in-loop", "async function f() { for (const u of us) { await g(u); } }\n"),
        ("nan-comparison", "if (x === NaN) { f(); }\n"),
        ("unreachable", "function f() {\n  return 1;\n  g();\n}\n"),
    ],
    "a.go": [
        ("sql-concatenation", 'package a\nfunc f() { q := fmt.Sprintf("SELECT a FROM t WHERE b = %s", id); use(q) }\n'),
        ("defer-in-loop", "package a\nfunc f() { for _, x := range xs { defer x.Close() } }\n"),
        ("tls-off", "package a\nvar c = tls.Config{InsecureSkipVerify: true}\n"),
        ("weak-hash", "package a\nfunc f(password string) { h := md5.New(); use(h, password) }\n"),
        ("growing-string", 'package a\nfunc f() {\n s := ""\n for _, x := range xs {\n  s += x\n }\n use(s)\n}\n'),
    ],
    "A.java": [
        ("string-identity", 'class A { boolean f(String s) { return s == "x"; } }\n'),
        ("empty-catch", "class A { void f() { try { g(); } catch (Exception e) { } } }\n"),
        ("sql-concatenation", 'class A { String f() { return "SELECT a FROM t WHERE b = " + id; } }\n'),
        ("weak-hash", 'class A { void f(String password) { MessageDigest.getInstance("MD5"); } }\n'),
    ],
    "a.php": [
        ("sql-concatenation", '<?php\n$q = "SELECT a FROM t WHERE b = " . $id;\n'),
    ],
    "a.rb": [("sql-concatenation", 'q = "SELECT a FROM t WHERE b = #{id}"\n'),
             ("empty-catch", "begin\n f\nrescue\nend\n")],
    "a.cs": [("sql-concatenation", 'class A { void F() { var q = $"SELECT a FROM t WHERE b = {id}"; } }\n')],
}  # fmt: skip


@pytest.mark.parametrize(("path", "rule", "text"), [(p, r, t) for p, cases in OTHERS.items() for r, t in cases])
def test_other_languages(path: str, rule: str, text: str) -> None:
    assert rule in rules(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", 'db.query("SELECT a FROM t WHERE b = ?", [id]);\n'),
        ("a.js", "try { f() } catch { /* best effort */ }\n"),
        ("a.js", "if ((m = re.exec(s))) { f(m); }\nif (x == null) { f(); }\n"),
        ("a.js", 'const t = "select one from the list";\nel.innerHTML = "";\n'),
        ("a.go", 'package a\nfunc f() { db.Query("SELECT a FROM t WHERE b = $1", id) }\n'),
        ("A.java", 'class A { boolean f(String s) { return "x".equals(s); } }\n'),
        ("a.c", 'void f() { printf("%d", x); fgets(b, 9, stdin); }\n'),
    ],
)
def test_clean_code_of_other_languages_stays_clean(path: str, text: str) -> None:
    assert found(path, text) == []


@pytest.mark.slow
def test_findings_quote_without_secrets() -> None:
    token = "ghp_" + "a1B2" * 9
    (finding,) = [f for f in found("a.py", f'KEY = "{token}"\n') if f.source == "secrets"]
    assert (finding.severity, finding.line) == ("critical", 1)
    assert token not in repr(found("a.py", f'KEY = "{token}"\n'))


def test_the_repositorys_own_configuration_counts_for_nothing() -> None:
    codes = [code("pkg/a.py", "import os\n", "python"), code("pyproject.toml", "[tool.ruff]\nexclude=['*']\n", "toml")]
    assert [f.rule for f in linters.ruff_style(codes)] == ["F401"]


@pytest.mark.slow
def test_copies_never_leave_their_folder() -> None:
    names = ["../../evil.py", "/etc/evil.py", "a\nb.py", "-rf.py", "ok/x.py", "é/ü.py"]
    with temporary_copies([code(name, "x = 1\n", "python") for name in names]) as copies:
        root = next(iter(copies)).partition("/code/")[0]
        assert all(path.startswith(root + "/code/") and ".." not in path for path in copies)
        assert [c.path for c in copies.values()] == names
    assert {f.path for f in linters.ruff_style([code(n, "import os\n", "python") for n in names])} == set(names)


@pytest.mark.slow
def test_files_are_parsed_by_many_threads_at_once() -> None:
    text = "\n".join(f"def f{n}(a):\n    return [x * (a + {n}) for x in (1, 2, 3) if x > {n}]" for n in range(400))
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(parse_source, [code(f"m{n}.py", text, "python") for n in range(40)]))
    assert all(tree is not None and len(tree.find_all(kind="function_definition")) == 400 for tree in trees)


@pytest.mark.slow
def test_hostile_code_ends() -> None:
    deep = "(" * 20_000 + ")" * 20_000
    assert "invalid-syntax" in rules("a.py", "x = " + "(" * 500)
    found("a.py", f"x = {deep}\n")
    found("a.js", f"x = {deep};\n")
    assert found("a.xyz", "x") == []
