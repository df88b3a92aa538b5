"""Reads a project's configuration of pytest, and keeps the options that matter for running a few of its tests. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from repopilot.code.formats.data_formats import table, toml_tables
from repopilot.project.declaration_parts import Read, shell_words
from repopilot.project.setup_files import config_sections

_PLACES: tuple[tuple[str, ...], ...] = (
    ("pytest.toml", "pytest"),
    (".pytest.toml", "pytest"),
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool", "pytest", "ini_options"),
    ("pyproject.toml", "tool", "pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)
"""The files in which pytest looks for its options, in its order, each with the keys of the section there."""
_OWN_FILE = re.compile(r"\.?pytest\.(?:toml|ini)")
"""A file that pytest takes even without the section."""
_NOT_PASSED = frozenset(
    "addopts testpaths pythonpath required_plugins minversion cache_dir norecursedirs python_files log_file "
    "junit_family junit_suite_name junit_logging console_output_style collect_imported_tests strict strict_config "
    "faulthandler_timeout timeout session_timeout log_cli log_level log_cli_level ini_options confcutdir".split()
)
_OPTIONS_OF = {"--asyncio-mode": "asyncio", "--ds": "django", "--dc": "django"}
"""Options of the command line that are passed on, each with the plugin that knows it."""
_IMPORT_MODE = re.compile(r"--import-mode[=\s]\s*(prepend|append|importlib)\b")


@dataclass(frozen=True, slots=True)
class PytestOptions:
    """How a project's tests are to be run.

    Attributes:
        values: options of the configuration file by name.
        python_path: folders to import from, relative to the configuration file's.
        plugins: modules to load, from `-p`.
        warnings: filters, from `-W`.
        options: further options of the command line, each after the name of the plugin that knows it.
        import_mode: how test files are imported, from `--import-mode`.
    """

    values: Mapping[str, str]
    python_path: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    import_mode: str = "prepend"

    def arguments(self, loaded: tuple[str, ...]) -> list[str]:
        """The arguments of pytest's command line.

        Args:
            loaded: names of the plugins that are loaded.
        """
        values = [part for name, value in self.values.items() for part in ("-o", f"{name}={value}")]
        filters = [part for text in self.warnings for part in ("-W", text)]
        return [*values, *filters, *(option for plugin, option in self.options if plugin in loaded)]


def read_pytest_options(read: Read) -> PytestOptions:
    """What a project's files say about pytest.

    Args:
        read: gives the texts of the files at the top of the project.

    Returns:
        The options; none where the project configures nothing.
    """
    section = _section(read)
    written = section.get("addopts", "")
    plugins, warnings, options = _additional(written)
    mode = _IMPORT_MODE.search(written)
    return PytestOptions(
        {name: value for name, value in section.items() if name not in _NOT_PASSED and not name.startswith("junit")},
        tuple(shell_words(section.get("pythonpath", ""))),
        plugins,
        warnings,
        options,
        mode[1] if mode else "prepend",
    )


def _section(read: Read) -> dict[str, str]:
    """The options in the first file that has some, as an INI file writes them."""
    for path, *keys in _PLACES:
        text = read(path)
        if text is None:
            continue
        found: object = toml_tables(text) if path.endswith(".toml") else config_sections(text)
        for key in keys:
            found = table(found).get(key)
        if found is not None or _OWN_FILE.fullmatch(path):
            return _values(table(found))
    return {}


def _values(section: Mapping[str, object]) -> dict[str, str]:
    """The options as an INI file writes them."""
    found = {}
    for name, value in section.items():
        if isinstance(value, bool):
            found[name] = str(value).lower()
        elif isinstance(value, list):
            found[name] = (
                shlex.join(map(str, value)) if name in ("addopts", "pythonpath") else "\n".join(map(str, value))
            )
        elif isinstance(value, (str, int, float)):
            found[name] = str(value)
    return found


def _additional(written: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The plugins, filters and other options in `addopts` that are passed on."""
    plugins: list[str] = []
    warnings: list[str] = []
    options: list[tuple[str, str]] = []
    words = iter(shell_words(written))
    for word in words:
        if word in ("-p", "-W", "--pythonwarnings"):
            (plugins if word == "-p" else warnings).append(next(words, ""))
        elif word.startswith(("-p", "-W")) and not word.startswith("--"):
            (plugins if word.startswith("-p") else warnings).append(word[2:])
        elif word.startswith("--pythonwarnings="):
            warnings.append(word.partition("=")[2])
        elif (plugin := _OPTIONS_OF.get(word.partition("=")[0])) and "=" in word:
            options.append((plugin, word))
    return (
        tuple(name for name in plugins if name and not name.startswith("no:")),
        tuple(filter(None, warnings)),
        tuple(options),
    )
