"""Questions about a repository as a whole: the places that answer them, and what its README says."""

import pytest
from support.index_case import instant_index, settings, snapshot, write

from repopilot.retrieval.repo_map import readme_paragraphs
from repopilot.retrieval.search import search


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "beginning", ["<!--", "![", "[", "<", "<script>", "<div ", "[a](", "[a](b(", "![[a]", "```\n~~~x\n"]
)
def test_no_readme_takes_long(beginning):
    assert len(list(readme_paragraphs(beginning * 100_000))) <= 1


def test_a_readme_is_quoted_without_badges_and_code():
    badge = "[![Build][img]][url]"
    code = "```sh\nnpm install the whole thing\n```"
    comment = "<!-- [[[cog\nimport tempfile and several other words\n\nrun the generator here\n]]] -->"
    readme = f"{comment}\n# X\n\n{badge}\n\nTurns *wheels* of [all sizes](x.html) with wheel_size for you.\n\n{code}\n"
    assert list(readme_paragraphs(readme)) == ["Turns wheels of all sizes with wheel_size for you."]


def test_the_fields_at_the_head_of_a_readme_are_no_sentence():
    fields = ":Version: 5.6 (recovery of the old)\n:Keywords: task, queue, job,\n  workers and brokers\n"
    readme = f"{fields}\nTasks are given to workers here.\n"
    assert list(readme_paragraphs(readme)) == ["Tasks are given to workers here."]


def test_links_and_images_leave_their_words():
    readme = "[![b](x)](y) Fruit of [Foo](https://w/Foo_(bar)) is <b>ripe</b> now. ![i](z) [Read on][x] here.\n"
    assert list(readme_paragraphs(readme)) == ["Fruit of Foo is ripe now. Read on here."]


def test_blocks_of_html_are_paragraphs_and_scripts_no_text():
    readme = (
        "<div><h1>Tool</h1><p>Tool parses all the things.</p><script>alert('not one word of this')</script></div>\n"
    )
    assert list(readme_paragraphs(readme)) == ["Tool parses all the things."]
