"""Reads a project's configuration of pytest, and keeps the options that matter for running a few of its tests. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from repopilot.code.formats.data_formats import table, toml_tables
from repopilot.project.declaration_parts import Read, shell_words
from repopilot.project.setup_files import config_sections

# Where pytest looks, in its order; it reads the first file that has the section.
_INI_FILES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"))
_OTHER_INI_FILES = (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_TOML_FILES: tuple[tuple[str, tuple[str, ...]], ...] = (("pytest.toml", ("pytest",)), (".pytest.toml", ("pytest",)))
_PYPROJECT: tuple[tuple[str, ...], ...] = (("tool", "pytest", "ini_options"), ("tool", "pytest"))
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
    for path, keys in _TOML_FILES:
        if (text := read(path)) is not None:
            return _values(_table(text, keys))
    for path, name in _INI_FILES:
        if (text := read(path)) is not None:
            return config_sections(text).get(name, {})
    pyproject = read("pyproject.toml")
    for keys in _PYPROJECT if pyproject else ():
        if found := _values(_table(pyproject or "", keys)):
            return found
    for path, name in _OTHER_INI_FILES:
        text = read(path)
        if text and name in (sections := config_sections(text)):
            return sections[name]
    return {}


def _table(text: str, keys: tuple[str, ...]) -> Mapping[str, object]:
    found: Mapping[str, object] = toml_tables(text)
    for key in keys:
        found = table(found.get(key))
    return found


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
