"""French terms: accents, endings, terms of several words, and what is French at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.index.tokens import expand, words
from repopilot.retrieval.query.french import english_terms, english_words, is_french
from repopilot.retrieval.query.parse import parse


@pytest.mark.parametrize(
    ("french", "english"),
    [
        ("paramètres", "parameter"),
        ("parametre", "parameter"),
        ("PARAMETRES", "parameter"),
        ("vérifiées", "check"),
        ("verifiee", "check"),
        ("défaut", "default"),
        ("defaut", "default"),
        ("nœuds", "node"),
        ("noeud", "node"),
        ("supprimés", "delete"),
        ("conflits", "conflict"),
        ("requetes", "request"),
    ],
)
def test_a_word_is_found_whatever_its_accents_and_ending(french, english):
    assert english_words(french)[0] == english


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("où est vérifié le mot de passe ?", "password"),
        ("comment la base de données est-elle ouverte ?", "database"),
        ("quelle est la valeur par défaut ?", "default"),
        ("où est faite la gestion des erreurs ?", "error"),
        ("quel fil d’exécution écrit le fichier ?", "thread"),
        ("où est lu le nom d'utilisateur ?", "username"),
        ("comment une chaîne de caractères est-elle découpée ?", "string"),
        ("comment fonctionne la mise en cache ?", "cache"),
        ("où sont lues les variables d'environnement ?", "environment"),
        ("que fait l’en-tête de la requête ?", "header"),
        ("quelles sous-commandes existent ?", "subcommand"),
        ("comment le sérialiseur itère-t-il ?", "serializer"),
        ("où est l'itérateur asynchrone ?", "iterator"),
    ],
)
def test_a_french_question_searches_for_english_words(question, english):
    query = parse(question)
    assert query.language == "fr"
    assert query.terms[expand(english)[0]] == 1.0


def test_a_term_of_several_words_is_not_its_words():
    terms = dict(english_terms(words("les mots de passe et le mot")))
    assert terms == {"mots passe": ("password", "passwd"), "mot": ("word",)}


def test_parts_of_accented_words_are_not_searched():
    assert not {"te", "requ", "re"} & parse("où est lue la requête ?").terms.keys()


@pytest.mark.parametrize(
    "question",
    [
        "session cache timeout",
        "validation of the table",
        "route message client",
        "where is the port charge computed?",
        "how is the point table loaded",
        "import module version",
    ],
)
def test_english_words_that_are_french_too_leave_a_question_english(question):
    assert parse(question).language == "en"


@pytest.mark.parametrize(
    "question", ["formulaire de connexion", "fichier de config", "ou est defini le parametre", "tâches"]
)
def test_french_without_much_grammar_is_recognised(question):
    assert parse(question).language == "fr"


@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_word_can_be_looked_up(text):
    assert isinstance(is_french(text), bool)
    assert all(english_words(text))


@pytest.mark.slow
@given(st.lists(st.sampled_from("mot de passe base données la erreur x1 chaîne caractères fil".split()), max_size=12))
def test_every_content_word_appears_once(sentence):
    terms = [word for term, _ in english_terms(sentence) for word in term.split()]
    assert terms == [word for word in sentence if word not in ("de", "la")]
