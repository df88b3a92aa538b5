"""What a question asks about its subject, and for which kind of symbol, over a table of phrasings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval.query.question_kind import asks_for, wants_kind

ASPECTS = {
    "defined": [
        "where is create_app defined?",
        "Where's the session interface?",
        "in which file does the router live?",
        "where can I find the definition of Blueprint?",
        "where is the test client implemented?",
        "Where is the implementation of the JSON provider?",
        "Où est définie la classe Blueprint ?",
        "où se trouve le routeur ?",
        "Dans quel fichier est déclarée la constante TIMEOUT ?",
        "ou est defini le parseur ?",
        "which class implements the lock?",
    ],
    "checked": [
        "where is the token validated?",
        "Where is the size of an upload checked before it is stored?",
        "how is the signature verified?",
        "which function checks that the path is inside the root?",
        "what prevents two builds at the same time?",
        "where are unknown options rejected?",
        "où sont vérifiés les jetons ?",
        "Où est-ce que la longueur du mot de passe est contrôlée ?",
        "Comment est validée la signature ?",
        "quelle fonction vérifie les droits ?",
    ],
    "set": [
        "where is the session cookie set?",
        "where are blueprints registered?",
        "what creates the temporary folder?",
        "which function computes the checksum?",
        "where is the test client created?",
        "où est initialisée la base de données ?",
        "où sont enregistrés les blueprints ?",
        "quelle fonction calcule le prix ?",
    ],
    "used": [
        "where is the secret key used?",
        "who uses the cache?",
        "find all references to parse_args",
        "où est utilisé le jeton ?",
        "qui utilise cette fonction ?",
    ],
    "called": [
        "where is teardown called?",
        "what calls dispatch_request?",
        "list the callers of load_config",
        "Qui appelle la fonction main ?",
        "où est appelée la méthode close ?",
    ],
    "tested": [
        "where is the redirect tested?",
        "which tests cover the parser?",
        "are there any tests for the cart?",
        "quels tests couvrent le parseur ?",
        "où est testée la redirection ?",
    ],
    "documented": [
        "where is the timeout documented?",
        "what does the documentation say about sessions?",
        "que dit la documentation sur les sessions ?",
        "où est documentée l'option ?",
    ],
    "configured": [
        "How do I enable debug mode?",
        "which setting limits the upload?",
        "where is logging configured?",
        "what environment variable selects the model?",
        "comment désactiver le cache ?",
        "Quelle option change la langue ?",
        "où est configurée la journalisation ?",
    ],
    "raised": [
        "where is BadParameter raised?",
        "which error is raised for an empty cart?",
        "why does the build fail with an empty folder?",
        "what exceptions can load throw?",
        "où est levée l'exception ?",
        "quelle erreur est levée quand le panier est vide ?",
    ],
    "explained": [
        "how does the router work?",
        "why are there two parsers?",
        "what is the difference between a plan and a draft?",
        "explain the debate",
        "comment fonctionne le cache ?",
        "à quoi sert le manifeste ?",
    ],
    "": ["", "session cookie", "Fix the parser", "???"],
}


@pytest.mark.parametrize(("aspect", "text"), [(aspect, text) for aspect, texts in ASPECTS.items() for text in texts])
def test_a_question_asks_for_an_aspect(aspect, text):
    assert asks_for(text) == aspect


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which class is responsible for sessions?", "class"),
        ("quelle classe gère les sessions ?", "class"),
        ("what function parses the header?", "function"),
        ("quelle méthode lit l’en-tête ?", "function"),
        ("which file holds the router?", "file"),
        ("dans quels fichiers est-il importé ?", "file"),
        ("what is the default timeout?", "constant"),
        ("what setting changes the maximum size?", "constant"),
        ("quelle est la taille maximale d'un fichier ?", "constant"),
        ("how does the class router work?", ""),
    ],
)
def test_a_question_asks_for_a_kind_of_symbol(text, kind):
    assert wants_kind(text) == kind


@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    assert asks_for(text) in ASPECTS
    assert wants_kind(text) in ("class", "function", "constant", "file", "")
