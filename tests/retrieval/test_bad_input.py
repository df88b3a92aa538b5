"""Repositories and queries that nobody tuned for: the right place all the same, and bounded work."""

from __future__ import annotations

import subprocess
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from support.index_case import instant_index, settings, snapshot, write

from repopilot.index.build.update_history import update_history
from repopilot.index.store import Index
from repopilot.repo.history import MOST_PATHS
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.retrieval.search import Results, search

LIMIT = 500
"""Past commits that are stored, in these tests."""


@pytest.fixture
def indexed(tmp_path: Path) -> Callable[[dict[str, str]], Index]:
    def make(files: dict[str, str]) -> Index:
        return instant_index(snapshot(write(tmp_path / "tree", files)), settings(tmp_path / "home"))

    return make


def first(results: Results) -> tuple[str, str]:
    return results.hits[0].chunk.path, results.hits[0].chunk.symbol


def git(root: Path, *args: str, data: bytes = b"") -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *args], cwd=root, input=data, check=True, capture_output=True)


def with_history(root: Path, home: Path) -> Index:
    """The index of a work tree with its past commits."""
    options = settings(home).model_copy(update={"history_commits": LIMIT})
    opened = open_source(parse_source(str(root)), options)
    index = instant_index(opened, options)
    update_history(opened, options, index.folder.parent, lambda progress: None, threading.Event())
    return index


SHOP = {
    "shop/prices.py": "def discount(cart):\n    return cart.total() * 0.9\n",
    "shop/server.py": "def listen(port):\n    return port\n",
}


@pytest.mark.slow
def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    root = write(tmp_path / "tree", SHOP)
    git(root, "init", "-q")
    index = with_history(root, tmp_path / "home")
    results = search(index, "where is the discount computed?")
    assert index.commits == () and not results.notes
    assert first(results) == ("shop/prices.py", "discount")


@pytest.mark.slow
@pytest.mark.thorough
def test_one_giant_commit_votes_for_nothing(tmp_path: Path) -> None:
    crowd = {f"lib/part{n}/module.py": f"def step_{n}(x):\n    return x + {n}\n" for n in range(10 * MOST_PATHS)}
    root = write(tmp_path / "tree", {**SHOP, **crowd})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Import the discount of the cart and everything else")
    index = with_history(root, tmp_path / "home")
    assert [commit.paths for commit in index.commits] == [()]
    results = search(index, "Import the discount of the cart")
    assert first(results) == ("shop/prices.py", "discount")
    assert not any("commit" in why for hit in results.hits for why in hit.why)


@pytest.mark.slow
def test_twenty_thousand_commits_are_read_up_to_the_limit(tmp_path: Path) -> None:
    root = write(tmp_path / "tree", SHOP)
    git(root, "init", "-q", "-b", "main")
    git(root, "fast-import", "--quiet", data=_commits(20_000))
    git(root, "reset", "-q")
    index = with_history(root, tmp_path / "home")
    assert len(index.commits) == LIMIT
    assert index.commits[0].subject == "Listen on port 19999"
    results = search(index, "listen on another port")
    assert first(results) == ("shop/server.py", "listen")


def _commits(count: int) -> bytes:
    """A stream for `git fast-import`: each commit changes the server, there and back; the last leaves it as in SHOP."""
    parts = []
    for number in range(count):
        text = SHOP["shop/server.py"] if (count - number) % 2 else "def listen(port):\n    return 0\n"
        message = f"Listen on port {number}"
        parts.append(
            f"commit refs/heads/main\ncommitter A <a@example.org> {1_500_000_000 + number} +0000\n"
            f"data {len(message)}\n{message}\nM 100644 inline shop/server.py\ndata {len(text)}\n{text}\n"
        )
    return "".join(parts).encode()


PACKAGES = [f"{name}-service" for name in "auth billing cart chat crm docs feed geo hooks jobs".split()]
PACKAGES += [f"{name}-client" for name in "auth billing cart chat crm docs feed geo hooks jobs".split()]


@pytest.fixture(scope="module")
def monorepo(tmp_path_factory: pytest.TempPathFactory) -> Index:
    files: dict[str, str] = {}
    for name in PACKAGES:
        files[f"packages/{name}/package.json"] = f'{{"name": "@acme/{name}"}}\n'
        files[f"packages/{name}/src/server.ts"] = (
            "export function createServer(port: number) {\n  return connect(port)\n}\n\n"
            "export function closeServer() {\n  return true\n}\n"
        )
        files[f"packages/{name}/src/config.ts"] = "export const timeoutSeconds = 30\n"
        files[f"packages/{name}/test/server.test.ts"] = "test('server', () => createServer(1))\n"
    root = write(tmp_path_factory.mktemp("monorepo"), files)
    return instant_index(snapshot(root), settings(tmp_path_factory.mktemp("home")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "where is createServer in the billing client?",
        "createServer billing-client",
        "packages/billing-client/src/server.ts",
        "createServer file:billing-client",
    ],
)
def test_a_package_that_is_named_comes_before_nineteen_like_it(monorepo: Index, query: str) -> None:
    assert search(monorepo, query).hits[0].chunk.path == "packages/billing-client/src/server.ts"


def test_packages_that_are_alike_are_all_found(monorepo: Index) -> None:
    paths = {hit.chunk.path for hit in search(monorepo, "createServer", 20).hits}
    assert paths == {f"packages/{name}/src/server.ts" for name in PACKAGES}


LONG_FILE = "".join(
    f"def handle_{n}(request):\n    value = request.get({n})\n    if value is None:\n"
    f"        raise KeyError('case{n}x')\n    return value\n\n\n\n\n\n"
    for n in range(2000)
)


@pytest.mark.slow
def test_the_place_in_a_file_of_20_000_lines(indexed: Callable) -> None:
    assert LONG_FILE.count("\n") == 20_000
    index = indexed({**SHOP, "shop/handlers.py": LONG_FILE})
    for number in (0, 777, 1999):
        line = 10 * number + 1
        for query in (f"handle_{number}", f"where is case{number}x raised?"):
            chunk = search(index, query).hits[0].chunk
            assert chunk.start_line <= line + 3 and line <= chunk.end_line
            assert chunk.end_line - chunk.start_line < 100


@pytest.mark.slow
@pytest.mark.thorough
def test_a_function_of_20_000_lines_is_divided(indexed: Callable) -> None:
    body = "".join(f"    step_{n}(state, {n})\n" for n in range(20_000))
    index = indexed({**SHOP, "shop/steps.py": f"def run_all(state):\n{body}"})
    chunk = search(index, "step_12345").hits[0].chunk
    assert chunk.start_line <= 12_347 <= chunk.end_line
    assert chunk.end_line - chunk.start_line < 100


@pytest.mark.slow
def test_one_line_of_data_among_20_000(indexed: Callable) -> None:
    table = "".join(f"row{n},{n * 7 % 1000}\n" for n in range(20_000))
    index = indexed({**SHOP, "data/table.txt": table})
    chunk = search(index, "row15000").hits[0].chunk
    assert chunk.path == "data/table.txt" and chunk.start_line <= 15_001 <= chunk.end_line


@pytest.mark.slow
@pytest.mark.parametrize("path", ["shop/prices.py", "shop/handlers.py"])
def test_a_query_that_is_a_whole_file_finds_the_file(indexed: Callable, path: str) -> None:
    files = {**SHOP, "shop/handlers.py": LONG_FILE, "shop/other.py": LONG_FILE.replace("handle_", "other_")[:50_000]}
    results = search(indexed(files), files[path])
    assert results.hits[0].chunk.path == path
    assert len(results.query.terms) <= 64 and len(results.query.paths) <= 20
    assert bool(results.notes) == (len(files[path]) > 18_000)


SCRIPTS = {
    "lib/a.py": "def рассчитать_скидку(корзина):\n    return корзина.сумма\n",
    "lib/b.py": "def закрытьСчёт(клиент):\n    return клиент\n",
    "lib/c.py": "def υπολογισμός_φόρου(τιμή):\n    return τιμή\n",
    "lib/d.py": "def 计算折扣(购物车):\n    return 购物车\n",
    "lib/e.py": "def load_割引率(商品):\n    return 商品\n",
    "lib/f.py": "def calculerRéduction(panier):\n    return panier\n",
    "lib/g.py": "class HTTPÉlèveÄnderung:\n    ÜBERTRAG = 1\n",
    "lib/h.py": "def plain_discount(cart):\n    return cart\n",
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Index:
    root = write(tmp_path_factory.mktemp("scripts"), SCRIPTS)
    return instant_index(snapshot(root), settings(tmp_path_factory.mktemp("home")))


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("рассчитать_скидку", "lib/a.py"),
        ("СКИДКУ", "lib/a.py"),
        ("закрытьСчёт", "lib/b.py"),
        ("счёт клиента", "lib/b.py"),
        ("υπολογισμός φόρου", "lib/c.py"),
        ("计算折扣", "lib/d.py"),
        ("折扣", "lib/d.py"),
        ("where is 割引率 loaded?", "lib/e.py"),
        ("load 割引", "lib/e.py"),
        ("calculerRéduction", "lib/f.py"),
        ("où calcule-t-on la réduction ?", "lib/f.py"),
        ("élève", "lib/g.py"),
        ("httpélèveänderung", "lib/g.py"),
        ("änderung", "lib/g.py"),
        ("übertrag", "lib/g.py"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_in_other_scripts_are_found_whole_and_by_their_parts(
    scripts: Index, query: str, path: str, form: str
) -> None:
    """Decomposed accents come from file names and input methods of macOS."""
    assert search(scripts, unicodedata.normalize(form, query)).hits[0].chunk.path == path  # type: ignore[arg-type]
