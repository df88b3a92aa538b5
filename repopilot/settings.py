"""All options and their descriptions. The only module that reads the environment: `REPOPILOT_…`, and a `.env` file."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from repopilot import i18n
from repopilot.errors import UsageError

OWN_FILE = Path(__file__).resolve().parents[1] / ".env"
"""RepoPilot's own, never that of the current folder: it may be a stranger's clone, which could send the code away."""


EDITORS = {
    "vscode": "vscode://file{path}:{line}",
    "vscodium": "vscodium://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "windsurf": "windsurf://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
}
"""URL templates that open a line in an editor, by the names that the setting takes."""
_EDITOR_TEMPLATE = re.compile(
    r"(?!(?:javascript|vbscript|data|blob|file|filesystem|https?|ftp|wss?|about|view-source|mailto|chrome|edge):)"
    r"[a-z][a-z0-9+.-]*://[!-~]*",
    re.IGNORECASE,
)
"""The address of a line for another program: none that a browser opens, or runs, itself."""

DEFAULT_CONTEXT = 8192
"""Tokens of context for a model that works on few lines at a time."""


def _from_json(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


Texts = Annotated[list[str], NoDecode, BeforeValidator(_from_json)]
"""Several texts, which a variable holds as JSON; read here, so that text that isn't JSON is an invalid value."""


class Settings(BaseSettings):
    """RepoPilot's options. Each is set by the environment variable `REPOPILOT_<NAME>`; none is required.

    The entry points read them once and pass them on. A value of the wrong type raises pydantic.ValidationError.
    """

    model_config = SettingsConfigDict(env_prefix="REPOPILOT_", env_file=OWN_FILE, extra="ignore", frozen=True)

    # Language
    language: Literal["", "en", "fr"] = Field(
        default="",
        description="Language of the interface and of the reports; default: the browser's, and that of the question.",
    )

    audience: Literal["developer", "reader"] = Field(
        default="developer",
        description="Whom answers are for: `developer`; `reader`, who reads no code: plain words, no code unfolded.",
    )

    editor: str = Field(
        default="",
        description="Editor that opens code of a local folder: `vscode`, `vscodium`, `cursor`, `windsurf`, `zed` or `idea`; or a URL "
        "template, such as `vscode://file{path}:{line}`: `{path}` begins with a slash. Default: none.",
    )

    # Data
    home: Path = Field(
        default_factory=lambda: _user_data_folder(),
        description="Data directory: clones, indexes, models, chats. Each part can be deleted and is rebuilt.",
    )

    chats_url: str = Field(
        default="",
        description="A PostgreSQL server for the conversations, `postgresql://user:password@host/name`; default: `chats.db` in the data directory.",
        repr=False,
    )
    chroma_url: str = Field(
        default="",
        pattern="^(https?://.+)?$",
        description="A Chroma server for the vectors, which several machines can share; default: a folder in the data directory.",
        repr=False,
    )
    chroma_token: str = Field(
        default="", pattern="^[!-~]*$", description="Bearer token for REPOPILOT_CHROMA_URL.", repr=False
    )
    disk_limit_mb: int = Field(
        default=0,
        ge=0,
        description="Largest data directory, in MB: above that, the browser opens no further repository; 0: no limit.",
    )

    # The web server
    host: str = Field(
        default="127.0.0.1",
        description="Address that the page is served on. Keep loopback unless others are to reach it.",
    )
    port: int = Field(default=8000, description="Port of the browser page.")
    allowed_hosts: Texts = Field(
        default_factory=list,
        description="Further host names under which the page may be opened, besides loopback, as JSON.",
    )
    access: Literal["account", "token", "open"] = Field(
        default="account",
        description="Who may open the page: `account`, whoever has the address with its token and, on Linux, the account that "
        "runs the server; `token`, only whoever has that address; `open`, everyone who reaches the port, other local accounts too.",
    )
    access_token: str = Field(
        default="",
        pattern="^([A-Za-z0-9_-]{16,})?$",
        description="The token in the page's address, for scripts and proxies (header `X-RepoPilot-Token`); default: a random one at each start.",
        repr=False,
    )
    login: Literal["", "password", "header"] = Field(
        default="",
        description="Ask for a login: `password`, set by `repopilot password`; `header`, sent by a proxy that authenticates. Default: none.",
    )
    login_header: str = Field(
        default="X-Forwarded-User", description="Header in which the proxy sends the user's name, for logins by header."
    )

    # MCP over HTTP
    mcp_idle_minutes: float = Field(
        default=15,
        gt=0,
        description="Minutes without a request after which a session of `repopilot mcp --http` ends.",
    )
    mcp_sessions: int = Field(
        default=32, ge=1, description="Most sessions of `repopilot mcp --http` at a time; further ones are refused."
    )

    # Language models
    ollama_url: str = Field(
        default="http://127.0.0.1:11434",
        description="Address of Ollama; of several, separated by commas, the first that answers is used. Empty: Ollama is never asked.",
    )
    llm_url: str = Field(
        default="",
        description="An OpenAI-compatible server (vLLM, LM Studio, …), or a remote Ollama, used before any other; of several, separated by commas, the first that answers is used.",
    )
    llm_key: str = Field(default="", description="API key for REPOPILOT_LLM_URL.", repr=False)
    llm_model: str = Field(
        default="", description="The model that answers. Default: the largest Qwen2.5-Coder that answers in 10 s here."
    )
    reviewer_model: str = Field(
        default="",
        description="Second model, for the debate: any that Ollama or REPOPILOT_LLM_URL has; default: one of another family, else another size, if memory allows.",
    )
    daily_tokens: int = Field(
        default=0, ge=0, description="Most tokens a day for remote model servers, read and written; 0: no limit."
    )
    embedded: bool = Field(default=True, description="Use the embedded llama.cpp when no server answers.")
    auto_download: bool = Field(
        default=True, description="Let the browser app download the embedded and embedding models in the background."
    )
    way: Literal["", "agent", "small", "none"] = Field(
        default="",
        description="How the model works: `agent`, with tools in a loop; `small`, on a few lines at a time; `none`, not at all. Default: what the model is capable of.",
    )
    num_ctx: int = Field(
        default=0,
        ge=0,
        description="Context window requested from the model, in tokens; 0: 8192, or 32768 for a model that uses tools and supports as many.",
    )
    model_calls: int = Field(
        default=0,
        ge=0,
        description="Calls that a model server gets at once; further ones wait in a queue. 0: depends on the kind of server.",
    )
    max_answer_tokens: int = Field(default=700, ge=16, description="Longest answer, in tokens.")
    model_timeout_s: float = Field(
        default=120.0,
        gt=0,
        description="Longest silence of a model, in seconds; longer only while it reads a long prompt.",
    )
    threads: int = Field(default=0, ge=0, description="Threads of the embedded model; 0: the number of cores.")

    # Embeddings
    embed_model: str = Field(
        default="",
        description="An embedding model of Ollama, or of REPOPILOT_EMBED_URL; default: the built-in MiniLM.",
    )
    embed_url: str = Field(
        default="",
        description="An OpenAI-compatible server for embeddings. Passages of the code and questions are sent to it.",
    )
    embed_key: str = Field(default="", description="API key for REPOPILOT_EMBED_URL.", repr=False)
    embed_query_prefix: str = Field(
        default="", description="Text that the server's embedding model expects before a question, such as `query: `."
    )
    embed_document_prefix: str = Field(
        default="", description="Text that the server's embedding model expects before a passage, such as `passage: `."
    )
    dense: bool = Field(
        default=True,
        description="Rerank the best passages by embedding vectors, which are computed when a question needs them, and kept.",
    )
    dense_index: bool = Field(
        default=False,
        description="Compute the vectors of all passages in the background, however many there are, and with whichever model. Minutes to hours.",
    )
    dense_passages: int = Field(
        default=5000,
        ge=0,
        description="If a repository has at most this many passages, the browser computes all their vectors in the background with the built-in model: "
        "about a minute of an idle processor. Questions then also find passages that use other words.",
    )

    # Repositories
    git_token: str = Field(
        default="",
        description="Tokens for private repositories, as `host=token` or `host=user:password`, separated by commas or spaces; one without a host is for "
        "github.com. Given to that host alone, over https, when it asks for credentials, and never stored.",
        repr=False,
    )
    forge_api: str = Field(
        default="",
        description="Address of the API of GitHub, GitLab or Gitea; default: that of the host of the issue or pull request.",
    )
    github_app: str = Field(
        default="",
        description="The id of a GitHub App: RepoPilot works under its name, with tokens of its installations, and `serve --webhook` works for the "
        "repositories that it is installed on.",
    )
    github_app_key: str = Field(default="", description="The file with the private key of the GitHub App (PEM).")
    issue_everybody: bool = Field(
        default=False,
        description="Take what anybody writes on an issue or a pull request as part of the task, and let `serve --webhook` push to the repository itself. By "
        "default, only what members, collaborators and the author of the issue write counts, and changes for issues by others go through a fork.",
    )
    webhook_secret: str = Field(
        default="",
        description="The secret of webhooks, for `repopilot serve --webhook`: GitHub signs with it, GitLab sends it.",
        repr=False,
    )
    webhook_repositories: Texts = Field(
        default_factory=list,
        description="Addresses of the repositories, groups or hosts that `repopilot serve --webhook` works for, as JSON; calls for others are refused. "
        "Default: all whose calls have the secret.",
    )
    webhook_drafts: bool = Field(
        default=False,
        description="Let `repopilot serve --webhook` review draft pull requests, too; by default it waits until they are ready.",
    )
    webhook_fail_on: Literal["", "low", "medium", "high", "critical"] = Field(
        default="",
        description="Severity of findings from which `repopilot serve --webhook` marks a commit as failed; empty: never.",
    )
    webhook_label: str = Field(
        default="repopilot",
        description="The label by which somebody with push access makes `repopilot serve --webhook` work on an issue; empty: none.",
    )
    allow_private_hosts: bool = Field(
        default=False, description="Allow clones from private, loopback and link-local addresses, and issues there."
    )
    allow_http: bool = Field(default=False, description="Allow clones and issues over unencrypted http.")
    clone_timeout_s: float = Field(default=900.0, gt=0, description="Longest clone, in seconds of wall time.")
    clone_max_mb: int = Field(default=4096, gt=0, description="Largest clone on disk, in MB.")
    history_commits: int = Field(default=2000, ge=0, description="How many past commits serve as history; 0: none.")
    include: Texts = Field(
        default_factory=list, description="Only read files matching these patterns (gitignore syntax), as JSON."
    )
    exclude: Texts = Field(
        default_factory=list, description="Never read files matching these patterns (gitignore syntax), as JSON."
    )
    max_file_kb: int = Field(default=1024, gt=0, description="Files larger than this many KB are skipped.")
    big_repository_lines: int = Field(
        default=1_000_000,
        gt=0,
        description="Above this many lines, which take about a minute, the browser asks before indexing.",
    )
    workers: int = Field(default=0, ge=0, description="Processes that parse code; 0: the number of cores.")

    # Agents
    sandbox: str = Field(default="auto", description="Sandbox level: auto, bwrap, landlock, seatbelt, limits.")
    allow_weak_sandbox: bool = Field(
        default=False,
        description="Consent to run generated tests with resource limits only, where nothing stronger works.",
    )
    edit_timeout_s: float = Field(
        default=30.0, gt=0, description="Time after which a small model gives up a change, in seconds."
    )
    loop_steps: int = Field(default=40, gt=0, description="Most replies of a model that uses tools for one task.")
    loop_tokens: int = Field(
        default=400_000, gt=0, description="Most tokens that a model with tools reads and writes for one task."
    )
    loop_seconds: float = Field(
        default=900.0, gt=0, description="Longest time that a model with tools works on one task, in seconds."
    )
    loop_attempts: int = Field(
        default=1,
        ge=1,
        le=8,
        description="Attempts of a model with tools at one change, each with these limits and on a separate copy, until tests prove one.",
    )
    loop_rounds: int = Field(
        default=2,
        ge=0,
        le=8,
        description="How often a model with tools gets its change back with the reasons against it, such as a failing test; 0: never.",
    )
    test_timeout_s: float = Field(
        default=30.0,
        gt=0,
        description="Longest run of tests, in seconds, or three times what they took before, whichever is longer.",
    )
    environments: Literal["ask", "always", "never"] = Field(
        default="ask",
        description="Fetch the packages that a repository's tests need: ask first, always when tests are run, or never.",
    )
    commands: Literal["ask", "always", "never"] = Field(
        default="ask",
        description="Let an agent model run commands of a repository in a strong sandbox: ask first, always, or never. "
        "Where nobody can be asked, `ask` is never.",
    )
    environment_max_mb: int = Field(default=1024, gt=0, description="Largest environment of a repository, in MB.")
    environment_timeout_s: float = Field(
        default=600.0, gt=0, description="Longest step of building an environment, in seconds."
    )
    test_python: str = Field(
        default="",
        description="An interpreter that has pytest and the repository's dependencies, used for its tests instead of an environment.",
    )
    search_depth: int = Field(
        default=12,
        ge=1,
        le=100,
        description="Passages that a search for an answer returns; unless it is set, up to 60 if the context window of an agent model has room.",
    )
    max_iterations: int = Field(default=4, ge=1, le=8, description="Most iterations of test and repair.")

    @field_validator("editor")
    @classmethod
    def _check_editor(cls, value: str) -> str:
        has_both = "{path}" in value and "{line}" in value
        if value and value not in EDITORS and not (has_both and _EDITOR_TEMPLATE.fullmatch(value)):
            raise ValueError(f"{', '.join(EDITORS)}, or an address such as vscode://file{{path}}:{{line}}")
        return value

    @property
    def editor_template(self) -> str:
        """The URL of a line in the user's editor, with `{path}` and `{line}` in it; '' for none."""
        return EDITORS.get(self.editor, self.editor)

    @property
    def most_embedded(self) -> float:
        """The size, in passages, up to which all vectors of a repository are computed in the background. A server's
        model gets a whole repository only if the user says so."""
        if self.dense_index:
            return math.inf
        return 0 if self.embed_model or self.embed_url else self.dense_passages

    @property
    def llm_urls(self) -> tuple[str, ...]:
        """The servers to ask first, in their order."""
        return _addresses(self.llm_url)

    @property
    def ollama_urls(self) -> tuple[str, ...]:
        """The addresses where Ollama may listen, in order."""
        return _addresses(self.ollama_url)

    @property
    def repos(self) -> Path:
        """The folder of the clones."""
        return self.home / "repos"

    @property
    def indexes(self) -> Path:
        """The folder of the indexes."""
        return self.home / "index"

    @property
    def environments_folder(self) -> Path:
        """The folder of the environments that tests run with."""
        return self.home / "environments"

    def with_commands(self) -> Settings:
        """These settings after somebody agreed to commands; `never` stays."""
        return self.model_copy(update={"commands": "always"}) if self.commands == "ask" else self

    @property
    def models(self) -> Path:
        """The folder of the downloaded models."""
        return self.home / "models"


def _addresses(text: str) -> tuple[str, ...]:
    return tuple(part.rstrip("/") for part in text.replace(",", " ").split())


def _user_data_folder() -> Path:
    import platformdirs

    try:
        return Path(platformdirs.user_data_dir("repopilot"))
    except RuntimeError as error:  # the account has no entry and HOME is not set, as in some containers
        raise UsageError(i18n.message("errors.no_home"), i18n.message("errors.no_home_hint")) from error
