import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.answer_scores import broken_sentences, grouped, matches, scored, summary

QUESTION = {
    "form": "default",
    "answerable": True,
    "gold": [[r"\b64\b"], ["threads", "fils"]],
    "places": [["src/cli.rs", 788, 800]],
}
ANSWER = {
    "text": "At most 64 threads [1].\n\n[1] `src/cli.rs:780-790`",
    "lead": "At most 64 threads [1].",
    "origin": "model",
    "code_form": "",
    "intent": "EXPLAIN",
    "cites": True,
    "places": [["src/cli.rs", 780, 790]],
    "evidence_text": "const MOST: usize = 64;",
}


def test_right_answer():
    found = scored(QUESTION, ANSWER)
    assert found["right"] and found["right_lead"] and found["place"]
    assert not (found["wrong_supported"] or found["broken"] or found["false_absent"] or found["not_explained"])


def test_every_group_has_to_match():
    assert not matches([["a"], ["b", "c"]], "A only")
    assert matches([["a"], ["b", "c"]], "a and C")


def test_wrong_lead_above_right_evidence():
    found = scored(QUESTION, {**ANSWER, "lead": "One thread is used [1]."})
    assert found["right"] and not found["right_lead"] and found["wrong_supported"]


def test_unanswerable_question_is_right_where_it_is_called_absent():
    question = {"form": "unanswerable", "answerable": False, "gold": [], "places": []}
    assert not scored(question, ANSWER)["right"]
    found = scored(question, {**ANSWER, "origin": "absent"})
    assert found["right"] and found["false_absent"] is None and found["place"] is None


def test_absence_of_an_answerable_question_is_false():
    found = scored(QUESTION, {**ANSWER, "origin": "absent", "text": "Not in this repository.", "lead": ""})
    assert found["false_absent"] and not found["right"]


@pytest.mark.parametrize(
    "lead, broken",
    [
        ("**At run time**\n\n2 options:\n\n- `a` [1]\n- `b` [1]", 0),
        ("The options are:", 0),
        ("The exception raised is [1].", 1),
        ("The code uses the option (", 1),
        ("It reads 3 files [1]. It reads 3 files [2].", 1),
        ("The code snippet", 1),
        ("The limit is 65 [1].", 1),
        ("The limit is 64 [1].", 0),
        ("The history known goes back to 2009-08-26.", 0),
        ("`Cart` is defined in `shop.py:3` [1]", 0),
        ("It is called by:\n\n- `main` (`a.py:3`) [1]\n- `run` [2]", 0),
        ("~~~~\nnot prose (\n~~~~", 0),
    ],
)
def test_broken_sentences(lead, broken):
    assert len(broken_sentences(lead, ANSWER["evidence_text"])) == broken


@pytest.mark.slow
@given(st.text(max_size=200), st.text(max_size=40))
def test_broken_sentences_are_of_the_lead(lead, known):
    assert all(sentence in lead for sentence in broken_sentences(lead, known))


@pytest.mark.slow
def test_summary_leaves_out_what_does_not_apply():
    times = {"evidence_s": 0.2, "first_sentence_s": None, "end_s": 1.0}
    rows = [{**scored(QUESTION, ANSWER), **times, "language": "en"} for _ in range(2)]
    rows.append({**rows[0], "false_absent": None, "right": False, "language": "fr"})
    found = summary(rows)
    assert (found["questions"], found["right"], found["false_absent"]) == (3, 0.667, 0.0)
    assert found["first_sentence_s_median"] is None and found["end_s_p90"] == 1.0
    assert [name for name, _ in grouped(rows, lambda row: row["language"])] == ["en", "fr"]
