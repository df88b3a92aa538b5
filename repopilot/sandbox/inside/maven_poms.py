"""Reduces a Maven project to what its tests need: no other registries, no build extensions, no plugins that publish,
package or check. Imports nothing of ours, as it also runs in the sandbox."""

from __future__ import annotations

import re
from collections.abc import Collection
from xml.etree import ElementTree

POM = "pom.xml"
_LEFT_OUT = {"repositories", "pluginRepositories", "distributionManagement", "reporting", "extensions"}
_PACKAGINGS = ("pom", "jar", "war", "ear", "ejb", "maven-plugin")
_NOT_FOR_TESTS = re.compile(
    r"maven-(?:artifact|assembly|bundle|checkstyle|dependency|deploy|enforcer|gpg|install|jar|javadoc|pmd|release|scm-publish"
    r"|shade|site|source|changes)-plugin|.*(?:publish|staging|spotbugs|findbugs|spotless|japicmp|clirr|sniffer"
    r"|moditect|\$|proguard|licen[sc]e|apache-rat|nohttp|formatter|javaformat|sortpom|cyclonedx|bnd-).*"
)


def reduced(text: str, own: Collection[str] = ()) -> str:
    """A pom.xml reduced to what its tests need; invalid XML is returned unchanged.

    Args:
        text: of the file.
        own: names of artifacts that the repository builds itself, which are removed from the dependencies.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return text
    root.attrib.clear()
    for element in root.iter():
        element.tag = _local(element)
    for element in [*root.iter()]:
        for child in [*element]:
            plugin = child.tag == "plugin" and _NOT_FOR_TESTS.fullmatch(_artifact(child))
            if plugin or child.tag in _LEFT_OUT or (child.tag == "dependency" and _artifact(child) in own):
                element.remove(child)
    packaging = root.find("packaging")
    if packaging is not None and (packaging.text or "").strip() not in _PACKAGINGS:
        packaging.text = "jar"
    return ElementTree.tostring(root, encoding="unicode")


def coordinates(text: str) -> tuple[str, str, str]:
    """Group, name and version of a pom.xml; what is missing is inherited from the parent."""
    own = _values(ElementTree.fromstring(text))
    parent = parent_of(text)
    inherited = parent[:3] if parent else ("", "", "")
    return own.get("groupId") or inherited[0], own.get("artifactId", ""), own.get("version") or inherited[2]


def parent_of(text: str) -> tuple[str, str, str, str] | None:
    """Group, name, version and relative path of the parent that a pom.xml names, None for none."""
    parent = next((each for each in ElementTree.fromstring(text) if _local(each) == "parent"), None)
    if parent is None:
        return None
    values = _values(parent)
    names = ("groupId", "artifactId", "version")
    group, name, version = (values.get(key, "") for key in names)
    return group, name, version, values.get("relativePath", "../" + POM)


def runs_code(text: str) -> bool:
    """Whether Maven would load code named in a pom.xml when it reads the file, or with the plugin that fetches."""
    tree = [(_local(each), each) for each in ElementTree.fromstring(text).iter()]
    loads = any(name == "extensions" and (each.text or "").strip() != "false" for name, each in tree)
    plugins = (each for name, each in tree if name == "plugin" and "dependencies" in map(_local, each))
    return loads or any(re.search(r"\$|^maven-dependency-plugin$", _artifact(each)) for each in plugins)


def _values(element: ElementTree.Element) -> dict[str, str]:
    return {_local(each): (each.text or "").strip() for each in element}


def _local(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _artifact(plugin: ElementTree.Element) -> str:
    return _values(plugin).get("artifactId", "")
