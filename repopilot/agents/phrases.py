"""What code itself says in an answer, in the languages questions come in."""

from __future__ import annotations

_PHRASES = {
    "absent": {
        "en": "**Not in this repository.** I searched {files} files at `{commit}` and found nothing that answers this.",
        "fr": "**Pas dans ce dépôt.** J'ai cherché dans {files} fichiers à `{commit}` sans rien trouver qui réponde.",
    },
    "absent_names": {
        "en": "{names} occurs nowhere in the {files} files indexed at `{commit}`.",
        "fr": "{names} n'apparaît nulle part dans les {files} fichiers indexés à `{commit}`.",
    },
    "nearest": {"en": "The nearest places:", "fr": "Les endroits les plus proches :"},
    "extractive": {
        "en": "No language model is running, so these are the places that match best:",
        "fr": "Aucun modèle de langue n'est disponible ; voici les passages les plus pertinents :",
    },
    "unusable": {
        "en": "What the model wrote did not hold up against the code, so these are the places that match best:",
        "fr": "Ce que le modèle a écrit ne correspondait pas au code ; voici les passages les plus pertinents :",
    },
    "failed": {
        "en": "The model failed before its first sentence, so these are the places that match best:",
        "fr": "Le modèle a échoué avant sa première phrase ; voici les passages les plus pertinents :",
    },
    "own_snippet": {
        "en": "*This snippet is the model's own: it does not stand in the repository like this.*",
        "fr": "*Cet extrait est du modèle lui-même : il ne figure pas ainsi dans le dépôt.*",
    },
    "place": {"en": "`{symbol}` in `{path}`", "fr": "`{symbol}` dans `{path}`"},
    "cut_off": {
        "en": "*The model stopped in the middle of this answer: {why}*",
        "fr": "*Le modèle s'est arrêté au milieu de cette réponse : {why}*",
    },
    "refused": {"en": "I won't help with this: {why}", "fr": "Je ne peux pas aider à cela : {why}"},
    "empty": {
        "en": "Ask something about the repository, for example: what does this project do?",
        "fr": "Posez une question sur le dépôt, par exemple : que fait ce projet ?",
    },
}


def say(phrase: str, language: str, **values: object) -> str:
    """The phrase in the language, English where it is not known. Raises KeyError on an unknown phrase or value."""
    versions = _PHRASES[phrase]
    return versions.get(language, versions["en"]).format(**values)


def short_commit(commit: str) -> str:
    """A SHA by its first ten digits; `unversioned` and `…+dirty` keep what they say."""
    sha, plus, dirty = commit.partition("+")
    return f"{sha[:10] if len(sha) == 40 else sha}{plus}{dirty}"
