"""The map of a repository: what it tells, and that it keeps to its budget."""

import pytest
from support.index_case import instant_index, settings, snapshot, write
from support.small_repo import FILES

from repopilot.retrieval.repo_map import overview, readme_paragraphs
from repopilot.retrieval.search import search


def count(text):
    return len(text.split())


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("shop"), FILES)
    home = settings(tmp_path_factory.mktemp("home"))
    return instant_index(snapshot(root), home)


def test_the_map_names_what_a_newcomer_needs(index):
    text = overview(index, 2000, count)
    for part in (
        "small shop server",
        "pyproject.toml",
        "corner-shop",
        "shop = shop.server:main",
        "httpx",
        "shop/server.py",
    ):
        assert part in text
    assert "cart.py: Cart, EmptyCart" in text
    assert "python" in text.splitlines()[0]


def test_tests_are_not_listed_with_their_symbols(index):
    assert "test_total" not in overview(index, 2000, count)


def test_without_readme_and_entry_points_the_main_code_answers(tmp_path):
    files = {
        "engine.go": "package engine\n\nfunc Turn() {}\n" * 20,
        "small.go": "package engine\n",
        "go.mod": "module x.org/engine\n",
    }
    root = write(tmp_path / "engine", files)
    built = instant_index(snapshot(root), settings(tmp_path / "home"))
    assert [hit.chunk.path for hit in search(built, "what is this project?").hits] == [
        "go.mod",
        "engine.go",
        "small.go",
    ]


def test_a_readme_is_quoted_without_badges_and_code(tmp_path):
    badge, code = "[![Build][img]][url]", "```sh\nnpm install the whole thing\n```"
    comment = "<!-- [[[cog\nimport tempfile and several other words\n\nrun the generator here\n]]] -->"
    readme = f"{comment}\n# X\n\n{badge}\n\nTurns *wheels* of [all sizes](x.html) with wheel_size for you.\n\n{code}\n"
    root = write(tmp_path / "wheels", {"README.md": readme})
    built = instant_index(snapshot(root), settings(tmp_path / "home"))
    assert (
        overview(built, 500, count).splitlines()[1]
        == "README.md says: Turns wheels of all sizes with wheel_size for you."
    )


@pytest.mark.parametrize("budget", [0, 10, 40, 80, 500])
def test_the_map_keeps_to_its_budget(index, budget):
    assert count(overview(index, budget, count)) <= budget


@pytest.mark.parametrize("beginning", ["<!--", "![", "[", "<", "[a](", "[a](b(", "![[a]", "```\n~~~x\n"])
def test_no_readme_takes_long(beginning):
    assert len(list(readme_paragraphs(beginning * 100_000))) <= 1


def test_links_and_images_leave_their_words():
    readme = "[![b](x)](y) Fruit of [Foo](https://w/Foo_(bar)) is <b>ripe</b> now. ![i](z) [Read on][x] here.\n"
    assert list(readme_paragraphs(readme)) == ["Fruit of Foo is ripe now. Read on here."]
