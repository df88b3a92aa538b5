"""The command-line contract of the design: keys, exit statuses, what goes where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.ollama_server import OllamaServer

from repopilot import intents
from repopilot.release import release

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., object]

HIT_KEYS = {"path", "start_line", "end_line", "symbol", "kind", "language", "score", "why", "text"}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["search", "--help"], ["--unknown"]])
def test_what_needs_no_repository_loads_nothing_of_the_program(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom repopilot.cli.app import main\ntry:\n    main(sys.argv[1:])\nfinally:\n"
        "    print([name for name in sys.modules if name.startswith(('repopilot.', 'pydantic'))], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == (2 if arguments == ["--unknown"] else 0)
    loaded = ["repopilot.cli", "repopilot.cli.app", *(["repopilot.release"] if arguments == ["--version"] else [])]
    assert done.stderr.splitlines()[-1] == str(loaded)


@pytest.mark.slow
def test_index_reports_what_it_read_and_what_it_skipped(run: Run, shop: Path) -> None:
    done = run("index", shop, "--json")
    assert done.status == 0, done.err
    assert done.json.keys() == {"repo", "commit", "files", "chunks", "lines", "skipped", "seconds", "reused"}
    assert done.json["files"] >= 9 and done.json["lines"] > 80
    assert any(s["path"] == ".env" for s in done.json["skipped"])
    assert all(s["reason"] for s in done.json["skipped"])
    assert run("index", shop, "--json").json["reused"] == done.json["files"], "the second time nothing is parsed again"


@pytest.mark.slow
def test_a_changed_file_is_noticed(run: Run, shop: Path) -> None:
    extra = shop / "shop" / "refunds.py"
    extra.write_text("def give_back_money(order):\n    return -order['total']\n")
    try:
        found = run("search", shop, "give_back_money", "--json").json["hits"]
        assert found[0]["path"] == "shop/refunds.py"
    finally:
        extra.unlink()
    assert all(h["path"] != "shop/refunds.py" for h in run("search", shop, "give_back_money", "--json").json["hits"])


@pytest.mark.slow
def test_search_gives_exact_lines_with_reasons(run: Run, shop: Path) -> None:
    hit = run("search", shop, "where are tokens validated", "-k", 3, "--json").json["hits"][0]
    assert hit.keys() >= HIT_KEYS and hit["path"] == "shop/auth.py" and hit["why"]
    lines = (shop / hit["path"]).read_text().split("\n")[hit["start_line"] - 1 : hit["end_line"]]
    assert hit["text"].strip() == "\n".join(lines).strip()
    assert hit["lines"] and all(lines[number - hit["start_line"]] == text for number, text in hit["lines"])


@pytest.mark.slow
def test_a_search_prints_places_with_their_lines(run: Run, shop: Path) -> None:
    out = run("search", shop, "where are tokens validated", "-k", 3).out
    assert out.startswith("shop/auth.py:") and "def validate_token" in out
    assert out.splitlines()[-1].startswith("2 places, in ")


@pytest.mark.slow
def test_ask_takes_the_search_command(run: Run, shop: Path) -> None:
    document = run("ask", shop, "/search validate token", "--json").json
    assert document["route"]["intent"] == "SEARCH" and document["evidence"][0]["path"] == "shop/auth.py"
    assert "`/search " in run("ask", shop, "/search").out


@pytest.mark.slow
def test_many_queries_give_one_document_a_line_in_order(run: Run, shop: Path, tmp_path: Path) -> None:
    queries = ["validate_token", "renderBasket", "orders table"]
    file = tmp_path / "queries.jsonl"
    file.write_text("".join(json.dumps({"query": q, "gold": []}) + "\n" for q in queries))
    documents = run("search", shop, "--queries", file, "-k", 5, "--json").lines
    assert [d["hits"][0]["path"] for d in documents] == ["shop/auth.py", "web/basket.js", "schema.sql"]


@pytest.mark.slow
def test_ask_without_a_model_answers_from_the_repository_alone(run: Run, shop: Path) -> None:
    done = run("ask", shop, "where are session tokens validated?", "--json")
    document = done.json
    assert done.status == 0 and document["model"] is None and document["degraded"]
    assert document["route"]["intent"] == "EXPLAIN"
    first = document["citations"][0]
    assert (
        first["path"] == "shop/auth.py"
        and first["supported"]
        and first["commit"] == document["citations"][-1]["commit"]
    )
    assert [s["name"] for s in document["steps"][0]["children"]][:3] == ["route", "retrieve", "read"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    ["Delete the tokens module", "rename validate_token to check_token", "What happens, step by step, on exit?"],
)
def test_what_is_asked_is_a_question(run: Run, shop: Path, question: str) -> None:
    document = run("ask", shop, question, "--json").json
    assert document["route"]["intent"] in intents.answering()
    assert "answered" not in document["route"]["reason"] or any("repopilot generate" in n for n in document["degraded"])


@pytest.mark.slow
def test_missing_content_is_reported_as_missing(run: Run, shop: Path) -> None:
    answer = run("ask", shop, "how does the `KubernetesOperator` reconcile pods?", "--json").json["answer"]
    assert "Not in this repository" in answer and "KubernetesOperator" in answer
    reponse = run("ask", shop, "comment fonctionne le `KubernetesOperator` ?", "--json").json["answer"]
    assert "Pas dans ce dépôt" in reponse


def test_route_names_intent_confidence_tier_and_reason(run: Run, tmp_path: Path) -> None:
    one = run("route", "where do we validate tokens?", "--json").json
    assert one["intent"] == "EXPLAIN" and 0 <= one["confidence"] <= 1 and one["tier"] and one["reason"]
    file = tmp_path / "q.jsonl"
    file.write_text('{"query": "write unit tests for cart.py"}\n\n{"query": "review the last commit"}\n')
    assert [d["intent"] for d in run("route", "--queries", file, "--json").lines] == ["TEST", "REVIEW"]


@pytest.mark.slow
def test_context_is_markdown_with_places_and_commit(run: Run, shop: Path, tmp_path: Path) -> None:
    target = tmp_path / "pack.md"
    assert run("context", shop, "checkout total", "--max-tokens", 600, "-o", target).status == 0
    text = target.read_text()
    assert "## shop/" in text and "```py" in text and len(text) < 600 * 6


@pytest.mark.slow
def test_doctor_says_what_is_missing_and_how_to_fix_it(run: Run) -> None:
    document = run("doctor", "--json").json
    checks = {c["name"]: c for c in document["checks"]}
    assert document["ok"] and checks["git"]["state"] == "ok" and checks["parsers"]["state"] == "ok"
    assert checks["language model"]["state"] == "degraded" and checks["language model"]["fix"]
    assert all(c["fix"] for c in document["checks"] if c["state"] == "broken")
    assert checks["repopilot"]["detail"] == release() and "commit" in release()
    servers = checks["language servers"]
    found, missing = servers["detail"].removeprefix("found: ").split("; missing: ")
    assert servers["state"] == "ok" and "ty" in found.split(", ")
    assert "tsc" not in missing.split(", ") or "environment" in servers["fix"]


def test_models_are_listed(run: Run) -> None:
    names = [m["name"] for m in run("models", "list", "--json").json["models"]]
    assert {"qwen2.5-coder:0.5b", "qwen2.5-coder:1.5b", "minilm"} <= set(names)


@pytest.mark.slow
def test_the_model_is_measured_on_request_and_doctor_says_what_came_out(run: Run, monkeypatch) -> None:
    with OllamaServer(models=["qwen2.5-coder:0.5b"]) as server:
        monkeypatch.setenv("REPOPILOT_OLLAMA_URL", server.url)
        facts = run("models", "measure", "--json").json
        assert facts["measured"] and facts["tokens_per_s"] > 0 and facts["answer_s"] > 0 and facts["next"]
        (check,) = [c for c in run("doctor", "--json").json["checks"] if c["name"] == "language model"]
        assert "Measured here" in check["detail"] and f"ollama pull {facts['next']}" in check["fix"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("nonsense",), 2),
        (("models", "measure"), 1),
        (("search", "."), 2),
        (("search", ".", "x", "-k", "0"), 2),
        (("search", ".", "--queries", "/nowhere.jsonl"), 2),
        (("impact", "."), 2),
        (("index", "/nowhere/at/all"), 1),
        (("index", "ext::sh -c id"), 1),
        (("index", "file:///etc"), 1),
        (("index", "--upload-pack=id"), 2),
        (("index", "https://127.0.0.1/x/y"), 1),
        (("models", "pull"), 2),
        (("models", "pull", "no-such-model"), 1),
        (("ask", ".", ""), 2),
    ],
)
def test_wrong_use_and_failures_have_their_own_statuses(run: Run, shop: Path, arguments: tuple, status: int) -> None:
    done = run(*(shop if a == "." else a for a in arguments))
    assert done.status in {status, 2} if status == 1 else done.status == status
    assert done.out == "" and done.err.strip() and "Traceback" not in done.err


@pytest.mark.slow
def test_only_the_document_goes_to_standard_output(shop: Path, home: Path) -> None:
    env = os.environ | {"REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": ""}
    command = [sys.executable, "-m", "repopilot", "search", str(shop), "checkout", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["hits"][0]["path"].startswith("shop/")


@pytest.mark.slow
def test_the_documents_have_the_keys_of_the_contract_and_no_others(run: Run, shop: Path) -> None:
    assert run("search", shop, "cart", "--json").json.keys() == {"commit", "hits"}
    assert run("route", "what is this?", "--json").json.keys() == {"intent", "confidence", "tier", "reason"}
    asked = run("ask", shop, "what is this project?", "--json").json
    assert asked.keys() == {"route", "answer", "sentences", "evidence", "citations", "degraded", "model", "steps"}
    keys = {"number", "path", "start_line", "end_line", "commit", "symbol", "supported"}
    assert all(citation.keys() == keys for citation in asked["citations"])


def test_fallbacks_are_printed_beside_the_document(run: Run, shop: Path) -> None:
    assert "note: " in run("search", shop, "cart symbol:NoSuchThing", "--json").err


@pytest.mark.slow
def test_impact_is_about_what_depends_on_the_file(run: Run, shop: Path) -> None:
    document = run("impact", shop, "shop/prices.py", "--json").json
    assert {
        "risk",
        "ranked",
        "affected",
        "covering_tests",
        "co_changed",
        "risks",
        "recommendations",
        "completeness",
    } <= (document.keys())
    assert "shop/cart.py" in [row["path"] for row in document["ranked"]][:3] and document["risk"] != "LOW"


@pytest.mark.slow
def test_a_review_finds_what_the_tools_know(run: Run, shop: Path) -> None:
    bad = shop / "shop" / "report.py"
    bad.write_text("import subprocess\n\n\ndef run(command):\n    subprocess.call(command, shell=True)\n")
    try:
        document = run("review", shop, "shop/report.py", "--json").json
        assert document["findings"] and document["score"] < 100
        keys = {"path", "line", "severity", "domain", "rule", "message", "source", "quote", "failure", "proof"}
        assert all(finding.keys() == keys for finding in document["findings"])
        assert run("review", shop, "shop/report.py", "--sarif").json["version"] == "2.1.0"
        assert [run("review", shop, "shop/report.py", "--fail-on", each).status for each in ("high", "critical")] == [
            1,
            0,
        ]
    finally:
        bad.unlink()


@pytest.mark.slow
def test_evidence_has_the_keys_of_the_contract(run: Run, shop: Path) -> None:
    found = run("ask", shop, "/impact shop/prices.py", "--json").json
    assert found["route"]["intent"] == "IMPACT" and found["route"]["tier"] == "forced"
    assert found["evidence"]
    for number, item in enumerate(found["evidence"], 1):
        assert item.keys() == {"number", "path", "start_line", "end_line", "symbol", "lines"}
        assert item["number"] == number and item["lines"][0][0] == item["start_line"]


def test_the_command_line_speaks_the_language_of_the_settings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOPILOT_LANGUAGE", "fr")
    done = run("models", "pull")
    assert done.status == 2 and done.err.startswith("repopilot : Quel modèle ?")
