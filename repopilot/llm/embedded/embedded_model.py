"""Which model is embedded: the size that suits this machine, among the weights that are installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repopilot import i18n
from repopilot.llm.embedded.embedded_engine import Engines
from repopilot.llm.model import Model
from repopilot.llm.speed import calibration, machine
from repopilot.llm.speed.model_speed import Speed
from repopilot.llm.speed.sizing import SizeChoice, by_preference, choose_size
from repopilot.llm.weights import models
from repopilot.settings import DEFAULT_CONTEXT, Settings


def find(settings: Settings) -> tuple[str, Path, str] | None:
    """Find the model to embed: `settings.llm_model` (a known model or a GGUF file), or if unset the size that fits the
    machine; if that one isn't installed, another installed one.

    Returns:
        Name, file and reason (a message); None when no weights are installed.
    """
    choice = size_choice(settings)
    wanted = settings.llm_model or choice.wanted
    own = Path(wanted).expanduser()
    if own.suffix == ".gguf" and own.is_file():
        return own.stem, own, i18n.message("llm.why.file")
    found = _installed_chat_models(settings)
    if not found:
        return None
    if wanted in found:
        return wanted, found[wanted], i18n.message("llm.why.named") if settings.llm_model else choice.reason
    name = next(size for size in (*by_preference(wanted), *found) if size in found)
    return name, found[name], i18n.message("llm.why.not_installed", wanted=wanted)


def size_choice(settings: Settings) -> SizeChoice:
    """The size that suits this machine, from speeds measured with the embedded engine."""
    return choose_size(speeds(settings), machine.memory() / 1024**2, machine.cores())


def speeds(settings: Settings) -> dict[str, Speed]:
    """The speeds measured on this machine with this engine, by model name."""
    keys = {name: speed_key(name, None, settings) for name, model in models.KNOWN.items() if model.purpose == "chat"}
    own = Path(settings.llm_model).expanduser()
    if own.suffix == ".gguf" and own.is_file():
        keys[own.stem] = speed_key(own.stem, own, settings)
    return calibration.kept_for(settings.home, keys)


def speed_key(name: str, path: Path | None, settings: Settings) -> str:
    """The key that a model's measured speed is stored under: machine, engine version, threads and weights.

    Args:
        name: of the model.
        path: a GGUF file of the user's own; None for a known model.
        settings: the number of threads.
    """
    known = models.KNOWN.get(name)
    weights = known.files[0].sha256 if known else f"{path.stat().st_size if path else 0} bytes"
    engine = f"xllamacpp {_engine_version()}, {settings.threads or machine.cores()} threads"
    return calibration.speed_key(engine, f"{name} {weights[:16]}")


def _engine_version() -> str:
    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        return "unknown"


def find_reviewer(settings: Settings, primary: str) -> tuple[str, Path] | None:
    """Find a second model of another size, where the memory is enough for both: name and file."""
    found = _installed_chat_models(settings)
    wanted = settings.reviewer_model or next((name for name in found if name != primary), "")
    needed_mb = sum(models.KNOWN[name].memory_mb for name in {wanted, primary} & set(models.KNOWN))
    if wanted == primary or wanted not in found or needed_mb * 1024**2 > machine.memory() / 2:
        return None
    return wanted, found[wanted]


def _installed_chat_models(settings: Settings) -> dict[str, Path]:
    """Installed chat models, the largest first."""
    stored = [model for model in models.available(settings) if model.purpose == "chat" and model.path]
    return {model.name: model.path for model in reversed(stored) if model.path}


def build(name: str, path: Path, settings: Settings, notes: tuple[str, ...], engines: Engines) -> Model:
    """The model over its engine, which is not started yet.

    Args:
        name: the model's name.
        path: the GGUF file.
        settings: context size, threads and timeout.
        notes: why this model was chosen.
        engines: the engines of this process.
    """
    from llama_index.llms.openai_like import OpenAILike

    threads = settings.threads or machine.cores()
    context_window = settings.num_ctx or DEFAULT_CONTEXT
    served = engines.get(name, path, context_window, threads)
    llm = OpenAILike(
        model=name,
        api_base=served.address,
        api_key=served.key,
        is_chat_model=True,
        context_window=context_window,
        timeout=settings.model_timeout_s,
        max_retries=0,
    )
    return Model(
        llm,
        name,
        "embedded",
        context_window,
        served.count_tokens,
        notes,
        settings.model_timeout_s,
        served,
        size_choice(settings).speed(name),
    )
