"""The HTTP interface does what its OpenAPI schema says, whatever it is asked: generated requests by schemathesis."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import git_server
from support.app import running

TOKEN = "a-token-of-the-tests-0123"
FILES = {
    "shop/prices.py": "RATE = 2\n\n\ndef price(count):\n    return count * RATE\n",
    "tests/test_prices.py": "from shop.prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n",
}
OF_A_REPOSITORY = ["--checks", "not_a_server_error,response_schema_conformance,content_type_conformance"]
"""With a real source, whether the rest fits depends on the repository: that is 404 or 422, whatever the schema."""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false", "access_token": TOKEN, "access": "token"}
    with running(tmp_path_factory.mktemp("home"), **quiet) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("source", ["any", "a repository"])
@pytest.mark.sampled(1)
def test_generated_requests_get_what_the_schema_says(app, tmp_path, source):
    git_server.commit(tmp_path / "shop", FILES)
    (tmp_path / "run").mkdir()
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{app.url}/api/v1/openapi.json"]
    command += ["--url", f"{app.url}/api/v1", "--header", f"Authorization: Bearer {TOKEN}", "--seed", "41"]
    command += ["--max-examples", "6", "--request-timeout", "30", "--continue-on-failure", "--no-color"]
    command += ["--workers", "1"]  # hypothesis describes lambdas through a cache that threads break
    env = {**os.environ, "ASKED_REPOSITORY": str(tmp_path / "shop")}
    if source == "a repository":
        command += [*OF_A_REPOSITORY, "--max-examples", "4", "--phases", "fuzzing"]
        env["SCHEMATHESIS_HOOKS"] = str(Path(__file__).with_name("source_hook.py"))
    done = subprocess.run(command, cwd=tmp_path / "run", env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
