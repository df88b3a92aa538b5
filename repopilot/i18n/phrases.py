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
    "way": {"en": "The way, from the code graph:", "fr": "Le chemin, d'après le graphe du code :"},
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
    "no_files": {"en": "**No files.** {why}", "fr": "**Aucun fichier.** {why}"},
    "change": {"en": "The change: {files}.", "fr": "Le changement : {files}."},
    "added": {"en": "`{path}` added (+{plus})", "fr": "`{path}` ajouté (+{plus})"},
    "modified": {"en": "`{path}` modified (+{plus} −{minus})", "fr": "`{path}` modifié (+{plus} −{minus})"},
    "deleted": {"en": "`{path}` deleted (−{minus})", "fr": "`{path}` supprimé (−{minus})"},
    "verdict": {"en": "**{score:g}/10**{again}, {said}.", "fr": "**{score:g}/10**{again}, {said}."},
    "accepted": {"en": "accepted as written", "fr": "accepté tel quel"},
    "merged": {"en": "with the reviewers' points worked in", "fr": "avec les remarques des relecteurs"},
    "kept": {"en": "kept as written, look it over", "fr": "gardé tel quel, à relire"},
    "poor": {
        "en": "not good enough: review it yourself before you take it",
        "fr": "pas assez bon : à relire avant de l'accepter",
    },
    "revised": {"en": " after {count} revision(s)", "fr": " après {count} révision(s)"},
    "unexercised": {"en": "Not exercised by any test: {names}.", "fr": "Aucun test n'exerce : {names}."},
    "tests_passed": {
        "en": "Tests: {passed} passed under control ({whose}, sandbox {level}, {seconds:.1f} s).",
        "fr": "Tests : {passed} réussi(s) sous contrôle ({whose}, bac à sable {level}, {seconds:.1f} s).",
    },
    "tests_counted": {
        "en": "Tests: {passed} passed, {failed} failed, {errors} errors ({whose}, sandbox {level}): no genuine pass.",
        "fr": "Tests : {passed} réussi(s), {failed} échec(s), {errors} erreur(s) ({whose}, bac à sable {level}) : "
        "pas de réussite avérée.",
    },
    "tests_none": {"en": "Tests: none were run ({why}).", "fr": "Tests : aucun n'a été exécuté ({why})."},
    "only_python": {"en": "only Python is run here", "fr": "seul Python est exécuté ici"},
    "tests_repository": {"en": "the repository's", "fr": "ceux du dépôt"},
    "tests_written": {"en": "written for this", "fr": "écrits pour cela"},
    "reasons": {"en": "The score: {reasons}.", "fr": "La note : {reasons}."},
    "points": {"en": "Reviewers' points:", "fr": "Remarques des relecteurs :"},
    "impact": {"en": "Impact: {risk}{reached}.", "fr": "Impact : {risk}{reached}."},
    "reached": {"en": ", reaches {names}", "fr": ", atteint {names}"},
    "around": {"en": "The code around it: {text}", "fr": "Le code autour : {text}"},
    "no_tests": {
        "en": "There are no Python tests to run here; other languages' tests are not run.",
        "fr": "Il n'y a pas de tests Python à exécuter ici ; ceux d'autres langages ne sont pas exécutés.",
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
