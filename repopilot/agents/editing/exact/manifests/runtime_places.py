"""Where a project says which version of its language or runtime it needs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from repopilot.agents.editing.exact.manifests.manifest_tree import ini_values, inner_span, pairs_of
from repopilot.agents.editing.exact.manifests.requirement_places import RequirementPlace, manifest_paths
from repopilot.agents.editing.exact.sources import Sources, SourceText

RUNTIMES = {
    "python": "python", "node": "node", "nodejs": "node", "node.js": "node", "npm": "npm", "go": "go", "golang": "go",
    "rust": "rust", "rustc": "rust", "java": "java", "jdk": "java",
}  # fmt: skip
_KEYS: dict[str, dict[tuple[str, ...], str]] = {
    "python": {
        ("project", "requires-python"): "pep508",
        ("tool", "poetry", "dependencies", "python"): "poetry",
        ("tool", "flit", "metadata", "requires-python"): "pep508",
    },
    "rust": {("package", "rust-version"): "cargo", ("workspace", "package", "rust-version"): "cargo"},
    "node": {("engines", "node"): "npm"},
    "npm": {("engines", "npm"): "npm"},
}
_PATTERNS = {
    ("setup.py", "python"): re.compile(r"\bpython_requires\s*=\s*([\"'])(?P<spec>[^\"']*)\1"),
    ("go.mod", "go"): re.compile(r"^go\s+(?P<spec>\d\S*)", re.M),
    ("pom.xml", "java"): re.compile(
        r"<(?P<tag>maven\.compiler\.(?:source|target|release)|java\.version|jdk\.version|javaVersion)>\s*"
        r"(?P<spec>[\d.]+)\s*</(?P=tag)>"
    ),
    ("build.gradle", "java"): re.compile(
        r"(?:JavaLanguageVersion\.of\(|(?:source|target)Compatibility\s*=\s*[\"']?(?:JavaVersion\.VERSION_)?|"
        r"jvmTarget\s*=\s*[\"']?(?:JavaVersion\.VERSION_)?)(?P<spec>[\d._]+)"
    ),
}


def runtime_places(runtime: str, sources: Sources) -> Iterator[RequirementPlace]:
    """The places of a repository's manifests that say which version of a runtime is needed.

    Args:
        runtime: a value of RUNTIMES.
        sources: the files.
    """
    for path in manifest_paths(sources):
        source = sources.get(path)
        if source is not None:
            yield from _in_keys(source, runtime)
            yield from _in_text(source, runtime)


def _in_keys(source: SourceText, runtime: str) -> Iterator[RequirementPlace]:
    keys = _KEYS.get(runtime, {})
    for pair in pairs_of(source) if keys else ():
        form = keys.get(pair.name)
        if form is not None and pair.value.type == "string":
            start, end = inner_span(source, pair.value)
            spec = source.data[start:end].decode("utf-8")
            yield RequirementPlace(source.path, runtime, start, end, spec, form, "", pair.node)
    if runtime == "python" and posixpath.basename(source.path) == "setup.cfg":
        for value in ini_values(source):
            if value.key in ("python_requires", "python-requires") and value.text.strip():
                start = value.start + len(value.text) - len(value.text.lstrip())
                spec = value.text.strip()
                yield RequirementPlace(source.path, runtime, start, start + len(spec.encode("utf-8")), spec, "pep508")


def _in_text(source: SourceText, runtime: str) -> Iterator[RequirementPlace]:
    name = posixpath.basename(source.path).removesuffix(".kts")
    pattern = _PATTERNS.get((name, runtime))
    text = source.text
    for match in pattern.finditer(text) if pattern is not None else ():
        start, end = (len(text[:at].encode("utf-8")) for at in match.span("spec"))
        form = "pep508" if name == "setup.py" else runtime
        yield RequirementPlace(source.path, runtime, start, end, match["spec"], form)
