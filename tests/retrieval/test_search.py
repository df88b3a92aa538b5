"""Search end to end over a real index of a small shop: what comes first, why, and that nothing asked breaks it."""

import subprocess
import threading

import numpy as np
import pytest
from support.index_case import WordEmbedder, instant_index, settings, snapshot, write
from support.small_repo import FILES

from repopilot.code.languages import languages
from repopilot.errors import ModelError
from repopilot.index.build.embedding_pause import EmbeddingPause
from repopilot.index.build.fill_vectors import fill_vectors
from repopilot.index.build.update_history import update_history
from repopilot.index.store import IndexStore
from repopilot.index.vectors import release
from repopilot.retrieval.query.exact_matches import ALIASES
from repopilot.retrieval.search import search

MORE = {
    "docs/discounts.md": "# Discounts\n\nLarge orders get a discount. The discount is computed with the prices.\n",
    "examples/discount_demo.py": "from shop.prices import with_discount\n\nprint(with_discount(6000))\n",
    "vendor/discount.py": "def with_discount(cents):\n    return cents\n",
    "shop/names.py": "\n\n".join(f"class Item{n}:\n    def handle(self):\n        return {n}\n" for n in range(500)),
    "Makefile": "run:\n\tpython -m shop.server\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def index(tmp_path_factory, home):
    root = write(tmp_path_factory.mktemp("shop"), {**FILES, **MORE})
    return instant_index(snapshot(root), settings(home))


def places(results):
    return [(hit.chunk.path, hit.chunk.symbol) for hit in results.hits]


def paths(index, text, k=10, **more):
    return [hit.chunk.path for hit in search(index, text, k, **more).hits]


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("where is with_discount defined?", "shop/prices.py", "def with_discount"),
        ("Cart.total", "shop/cart.py", "def total"),
        ("how is a forged token detected?", "shop/auth.py", "def validate_token"),
        ("où sont validés les jetons ?", "shop/auth.py", "def validate_token"),
        ("what does web/basket.js do?", "web/basket.js", "renderBasket"),
        ("which columns does the table orders have?", "schema.sql", "CREATE TABLE orders"),
        ("Fix the discount for large orders", "shop/prices.py", "def with_discount"),
        ("KeyError: price of an unknown article", "shop/prices.py", "def price_of"),
    ],
)
def test_the_right_place_comes_first(index, text, path, line):
    first = search(index, text).hits[0].chunk
    assert first.path == path
    assert line in first.text


def test_every_hit_says_why_and_the_parts_make_its_score(index):
    for hit in search(index, "how is the discount of large orders computed?").hits:
        assert hit.why
        assert sum(hit.why.values()) == pytest.approx(hit.score, abs=0.05)


def test_hits_come_in_order_of_score_and_the_same_every_time(index):
    results = [search(index, "cart total", 50) for _ in range(3)]
    scores = [hit.score for hit in results[0].hits]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple((h.chunk.id, h.score) for h in r.hits) for r in results}) == 1


def test_tests_examples_documentation_and_vendored_code_rank_lower_unless_asked_for(index):
    ranked = paths(index, "discount", 20)
    assert ranked[0] == "shop/prices.py"
    assert paths(index, "where are the tests of the cart?")[0] == "tests/test_cart.py"
    assert paths(index, "quels tests couvrent le panier cart ?")[0] == "tests/test_cart.py"
    assert paths(index, "what does the documentation say about discounts?")[0] == "docs/discounts.md"
    assert paths(index, "how does the cart compute its total?")[0] == "shop/cart.py"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("discount file:docs/*", {"docs/discounts.md"}),
        ("discount path:shop", {"shop/prices.py", "shop/cart.py"}),
        ("items lang:js", {"web/basket.js"}),
        ("total kind:schema", {"schema.sql"}),
        ("symbol:Cart.add", {"shop/cart.py"}),
        ("lang:sql", {"schema.sql"}),
    ],
)
def test_filters_hold_for_every_hit(index, text, wanted):
    found = paths(index, text)
    assert found and set(found) <= wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sh", "shell", "bash", "zsh"])
def test_a_language_is_found_by_each_of_its_names(tmp_path, name):
    root = write(tmp_path / "scripts", {"run.sh": "deploy() {\n  echo deployed\n}\n", "deploy.py": "deploy = 1\n"})
    found = instant_index(snapshot(root), settings(tmp_path / "home"))
    assert set(paths(found, f"deploy lang:{name}")) == {"run.sh"}


def test_other_names_of_languages_are_followed_to_known_languages():
    assert set(ALIASES.values()) <= set(languages()) and not set(ALIASES) & set(languages())


@pytest.mark.parametrize(
    "text", ["discount lang:klingon", "discount file:nowhere/*", "kind:nothing", "symbol:nowhere x"]
)
def test_a_filter_that_matches_nothing_says_so(index, text):
    results = search(index, text)
    assert results.hits == ()
    assert "filters" in results.notes[0]


def test_a_quoted_phrase_comes_first_and_a_missing_one_is_noted(index):
    found = search(index, 'which code says "nothing to pay for"?')
    assert "nothing to pay for" in found.hits[0].chunk.text
    assert found.hits[0].why["phrase"] > 0
    missing = search(index, 'who prints "nothing of the kind" for a cart?')
    assert missing.hits and "word for word" in missing.notes[0]


def test_a_traceback_leads_to_its_frames_innermost_first(index):
    text = (
        'Traceback (most recent call last):\n  File "/home/me/shop/server.py", line 14, in checkout\n'
        '    return cart.total()\n  File "/home/me/shop/cart.py", line 25, in total\n    raise EmptyCart\n'
        '  File "/usr/lib/python3.11/json/decoder.py", line 355, in decode\nEmptyCart: nothing to pay for'
    )
    results = search(index, text)
    for hit, (path, line) in zip(results.hits, [("shop/cart.py", 25), ("shop/server.py", 14)], strict=False):
        assert hit.chunk.path == path and hit.chunk.start_line <= line <= hit.chunk.end_line
        assert hit.why["stack frame"] > 0


def test_frames_outside_the_repository_are_noted(index):
    results = search(index, 'Traceback:\n  File "/usr/lib/other.py", line 3, in total\nEmptyCart: nothing to pay for')
    assert "stack frames" in results.notes[0]
    assert results.hits[0].chunk.path == "shop/cart.py"


def test_a_symbol_with_hundreds_of_definitions(index):
    results = search(index, "where is handle defined?", 20)
    assert len(results.hits) >= 10
    assert {hit.chunk.path for hit in results.hits} == {"shop/names.py"}
    assert all(hit.lines for hit in results.hits)


@pytest.mark.parametrize(
    "text",
    ["the", "???", "!@#$%^&*()", "你好世界", ".*[(+?", "\\d+(", "", "\0\0", "é" * 50, "file:", '"', "``", "x" * 5000],
)
def test_odd_questions_give_a_list_or_a_note(index, text):
    results = search(index, text)
    assert results.hits or results.notes


def test_a_question_of_100_kb_is_answered_from_its_ends(index):
    results = search(index, "where is the discount computed? " + "lorem ipsum " * 9000)
    assert any("characters" in note for note in results.notes)
    assert results.hits[0].chunk.path == "shop/prices.py"


@pytest.mark.parametrize("k", [0, -1])
def test_no_hits_wanted(index, k):
    assert search(index, "cart", k).hits == ()


@pytest.mark.parametrize(
    "text", ["what is this project?", "how do I run it?", "comment lancer ce projet ?", "how is it structured?"]
)
def test_overview_questions_are_answered_from_readme_manifest_and_entry_points(index, text):
    results = search(index, text)
    assert results.query.kind == "overview"
    assert results.hits[0].chunk.path == "README.md"
    assert {"pyproject.toml", "shop/server.py"} <= {hit.chunk.path for hit in results.hits}


def test_how_to_run_it_begins_with_the_readme_s_section_on_that(index):
    first = search(index, "how do I run it?").hits[0].chunk
    assert "python -m shop.server" in first.text


def test_files_are_ranked_without_repetition(index):
    results = search(index, "Fix the discount for large orders", 5)
    assert results.files[0] == "shop/prices.py"
    assert len(set(results.files)) == len(results.files)


@pytest.mark.slow
def test_vectors_of_the_best_passages_join(index, home):
    embedder = WordEmbedder()
    try:
        plain, reranked = (
            search(index, "discount of large orders"),
            search(index, "discount of large orders", embedder=embedder),
        )
        assert embedder.texts > 1
        assert any(hit.why.get("meaning", 0) > 0 for hit in reranked.hits)
        assert not any("meaning" in hit.why for hit in plain.hits)
        before = embedder.texts
        search(index, "discount of large orders", embedder=embedder)
        assert embedder.texts == before + 1  # the question; the passages' vectors are kept
    finally:
        release(settings(home).indexes)


class Thesaurus(WordEmbedder):
    """Knows that a basket is a cart."""

    name = "thesaurus"

    def embed(self, texts, *, query=False, background=False):
        return super().embed([text.replace("basket", "class Cart:") for text in texts])


@pytest.mark.slow
def test_a_question_finds_what_has_none_of_its_words_once_all_passages_have_vectors(tmp_path):
    """Not only the order of what words found: the right passage shares no word with the question."""
    other = {f"shop/p{n}.py": f"def packed{n}(parcel):\n    return {n}\n" for n in range(80)}
    root = write(tmp_path / "shop", {"shop/hold.py": "class Cart:\n    pass\n", **other})
    conf, embedder = settings(tmp_path / "home"), Thesaurus()
    built = instant_index(snapshot(root), conf)
    asked = "Where is the basket kept?"
    try:
        assert not search(built, asked, embedder=embedder).hits
        arguments = (built, embedder, lambda progress: None, threading.Event(), EmbeddingPause())
        filling = threading.Thread(target=fill_vectors, args=arguments)  # it lowers the priority of its thread
        filling.start()
        filling.join()
        found = search(built, asked, embedder=embedder)
        assert found.hits[0].chunk.path == "shop/hold.py" and found.hits[0].why["meaning"] > 0
        within = search(built, f"{asked} file:shop/p*", embedder=embedder)
        assert {hit.chunk.path for hit in within.hits} <= set(other), "a filter holds for them as well"
        looked_up = search(built, "basketry", embedder=embedder)
        assert not looked_up.hits, "a name is looked up, not guessed"
        assert places(search(built, asked, embedder=Failing())) == places(search(built, asked))
    finally:
        release(conf.indexes)


def test_passages_that_there_is_no_time_to_compare_are_counted(index, home, monkeypatch):
    monkeypatch.setattr("repopilot.retrieval.search.EMBEDDING_SECONDS", 0.0)
    embedder = WordEmbedder()
    embedder.name, embedder.at_once = "words, without the vectors of other tests", 2
    try:
        results = search(index, "cart price discount order", embedder=embedder)
        assert results.notes == () and results.compared is not None
        assert results.compared[0] == 2 < results.compared[1]
        assert sum("meaning" in hit.why for hit in results.hits) <= 2
    finally:
        release(settings(home).indexes)


class Failing(WordEmbedder):
    name = "failing"

    def embed(self, texts, *, query=False, background=False):
        raise ModelError("The model is gone.")


def test_an_embedder_that_fails_costs_nothing_but_a_note(index):
    with_failure, without = search(index, "cart total", embedder=Failing()), search(index, "cart total")
    assert places(with_failure) == places(without)
    assert "The model is gone." in with_failure.notes[0]


@pytest.mark.slow
def test_past_commits_speak_for_the_files_they_changed(tmp_path):
    files = {f"pkg/{name}.py": f"def {name}():\n    return convert(1)\n" for name in ("alpha", "beta", "gamma")}
    root = write(tmp_path / "repo", files)
    commit(root, "Start")
    write(root, {"pkg/gamma.py": "def gamma():\n    return convert(2)\n"})
    commit(root, "Fix rounding")
    conf = settings(tmp_path / "home").model_copy(update={"history_commits": 50})
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True)
    where = snapshot(root, head.stdout.strip())
    built = instant_index(where, conf)
    assert "file: history" not in search(built, "rounding in convert").hits[0].why
    update_history(where, conf, built.folder.parent, lambda progress: None, threading.Event())
    first = search(IndexStore(conf.indexes).open(where), "rounding in convert").hits[0]
    assert first.chunk.path == "pkg/gamma.py"
    assert first.why["file: history"] > 0


def commit(root, subject):
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for arguments in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", subject]):
        subprocess.run(["git", *arguments], cwd=root, check=True)


@pytest.mark.slow
def test_a_repository_without_a_word_has_nothing_to_say(tmp_path):
    root = write(tmp_path / "empty", {"blank.md": "???\n"})
    built = instant_index(snapshot(root), settings(tmp_path / "home"))
    for text in ("cart", "what is this project?", ""):
        results = search(built, text)
        assert results.hits == () and results.notes


def test_lists_do_not_depend_on_threads(index):
    found: list[list] = []
    threads = [
        threading.Thread(target=lambda: found.append(places(search(index, "cart total price")))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(one == found[0] for one in found)
    assert np.isfinite([hit.score for hit in search(index, "cart").hits]).all()


def test_the_documentation_that_fits_best_is_among_the_first_places_when_asked_for(index):
    question = "where do large orders get cheaper prices with a discount?"
    plain = paths(index, question, 12)
    documented = paths(index, question, 12, documentation=True)
    assert documented[:3] == plain[:3] and "docs/discounts.md" in documented[:4]
    chunks = [hit.chunk.id for hit in search(index, question, 12, documentation=True).hits]
    assert len(chunks) == len(set(chunks))
    for other in ("with_discount", "shop/prices.py", "which documentation tells of discounts?"):
        assert paths(index, other, documentation=True) == paths(index, other)


WALKS = {
    "tree/keys.py": "def walk_keys(tree):\n"
    '    """Explain the keys of a tree: walk over all of them, as a walk works."""\n'
    "    for key in tree:\n        yield key\n",
    "tree/nodes.py": "def walk(node):\n    yield node\n    yield from node.children\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["Explain how walk works", "how does walk work?", "comment fonctionne walk ?", "explain walk"]
)
def test_what_a_question_names_exactly_comes_before_a_longer_name(tmp_path, home, text):
    found = search(instant_index(snapshot(write(tmp_path, WALKS)), settings(home)), text)
    assert places(found)[0] == ("tree/nodes.py", "walk") and found.query.names == ("walk",)


def test_a_plain_word_that_no_definition_has_names_nothing(index):
    assert search(index, "explain the discount").query.names == ()
