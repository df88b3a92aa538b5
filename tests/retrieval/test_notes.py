"""What a search tells its user, in English and in French."""

from __future__ import annotations

import pytest
from support.index_case import WordEmbedder, instant_index, settings, snapshot, write
from support.small_repo import FILES

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.ranking.weights import weights_for
from repopilot.retrieval.search import search


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("shop"), FILES)
    conf = settings(tmp_path_factory.mktemp("home"))
    return instant_index(snapshot(root), conf)


class FailingEmbedder(WordEmbedder):
    def embed(self, texts, *, query=False, background=False):
        raise ModelError("The model is gone.", "Load it again.")


@pytest.mark.parametrize(
    ("question", "english", "french"),
    [
        ("file:nowhere price", "No passage satisfies the filters.", "Aucun passage ne satisfait les filtres."),
        ("the of a", "The question has no word to search for.", "La question ne contient aucun mot à rechercher."),
        ("zzyzx", "Nothing matches.", "Rien ne correspond."),
        (
            'where is "price tag" set?',
            "No passage contains this phrase word for word: 'price tag'.",
            "Aucun passage ne contient cette expression mot pour mot : 'price tag'.",
        ),
        (
            "price " * 5000,
            "The question has 30,000 characters: only its first 12,000 and last 6,000 were searched for.",
            "La question compte 30 000 caractères : seuls les 12 000 premiers et les 6 000 derniers "
            "ont été recherchés.",
        ),
    ],
)
def test_notes_are_in_the_language_of_the_reader(index, question, english, french):
    (note,) = search(index, question).notes
    assert note == english
    assert " ".join(i18n.translated(note, "fr").split()) == french


def test_a_failing_embedder_is_a_note_with_its_reason_and_hint(index):
    (note,) = search(index, "price", embedder=FailingEmbedder()).notes
    assert note == "Ranked without vectors. The model is gone. Load it again."
    assert i18n.translated(note, "fr").startswith("Classement sans vecteurs. ")


@pytest.mark.slow
def test_every_contribution_to_a_score_has_a_word_in_french(index):
    sets = [weights_for(parse(text)) for text in ("price_of", "Add a price", "Where is the price?", "the price of it")]
    names = {name for found in sets for name in (*found.passages, *(f"file: {name}" for name in found.files))}
    for question in (
        "price_of",
        "what is this project?",
        "how do I run it?",
        'File "shop/prices.py", line 5, in price_of',
    ):
        for hit in search(index, question, embedder=WordEmbedder()).hits:
            names |= hit.why.keys()
    words = i18n.section("ui.facts", "fr")
    assert {part.replace(" ", "_") for name in names for part in name.split(": ")} <= words.keys()
