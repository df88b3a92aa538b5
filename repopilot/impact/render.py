"""An impact report as text for people, in English or French."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repopilot.results import ImpactReport

_EN = {
    "risk": "Risk", "changed": "What changes", "affected": "What depends on it", "tests": "Tests that cover it",
    "together": "Files that used to change along", "ranked": "Other files you will probably touch", "risks": "Risks",
    "recommendations": "Recommendations", "complete": "The evidence is complete.",
    "incomplete": "This report is incomplete", "hops": "hops", "hop": "hop", "more": "and {n} more",
    "none": "Nothing in this repository was found to depend on it.", "no_tests": "None found.",
    "of": "{a} of {b} commits", "model": "said by the model", "whole": "the whole file",
}  # fmt: skip
_FR = {
    "risk": "Risque", "changed": "Ce qui change", "affected": "Ce qui en dépend", "tests": "Tests qui le couvrent",
    "together": "Fichiers qui changeaient avec", "ranked": "Autres fichiers probablement à modifier",
    "risks": "Risques", "recommendations": "Recommandations", "complete": "Les indices sont complets.",
    "incomplete": "Ce rapport est incomplet", "hops": "pas", "hop": "pas", "more": "et {n} de plus",
    "none": "Rien dans ce dépôt ne semble en dépendre.", "no_tests": "Aucun trouvé.",
    "of": "{a} commits sur {b}", "model": "dit par le modèle", "whole": "tout le fichier",
}  # fmt: skip
_SHOWN = 10


def impact_markdown(impact: ImpactReport, numbers: Mapping[str, int] | None = None, language: str = "en") -> str:
    """The report as Markdown. `numbers` maps ids of affected items to citation numbers."""
    said = _FR if language == "fr" else _EN
    numbers = numbers or {}
    parts = [f"**{said['risk']}: {impact.risk}**", _changed(impact, said)]
    parts += _points(said["risks"], impact.risks, said)
    parts += _points(said["recommendations"], impact.recommendations, said)
    parts += _affected(impact, numbers, said)
    parts += _section(said["tests"], [_test(t) for t in impact.covering_tests] or [said["no_tests"]], said)
    together = [f"`{c['path']}`: {said['of'].format(a=c['together'], b=c['of'])}" for c in impact.co_changed]
    parts += _section(said["together"], together, said, 5)
    parts += _section(said["ranked"], [f"`{r['path']}`: {'; '.join(r['reasons'][:2])}" for r in impact.ranked], said)
    gaps = impact.completeness.get("gaps", ())
    parts.append(f"*{said['incomplete']}: {'; '.join(gaps)}.*" if gaps else f"*{said['complete']}*")
    return "\n\n".join(part for part in parts if part)


def _changed(impact: ImpactReport, said: Mapping[str, str]) -> str:
    rows = []
    for item in impact.changed[:_SHOWN]:
        names = ", ".join(f"`{name}`" for name in item["symbols"][:8]) or said["whole"]
        moved = f" ← `{item['old_path']}`" if item["old_path"] else ""
        rows.append(f"`{item['path']}`{moved} ({item['status']}): {names}")
    return "\n".join(_section(said["changed"], rows, said, more=len(impact.changed) - len(rows)))


def _affected(impact: ImpactReport, numbers: Mapping[str, int], said: Mapping[str, str]) -> list[str]:
    rows = []
    for item in impact.affected[:_SHOWN]:
        name = f"`{item['symbol']}` in " if item["symbol"] else ""
        number = f" [{numbers[item['id']]}]" if item["id"] in numbers else ""
        hops = f"{item['distance']} {said['hop' if item['distance'] == 1 else 'hops']}"
        rows.append(f"{name}`{item['path']}`:{item['line']}{number}, {hops}: {item['reason']}")
    hidden = impact.completeness.get("affected", len(rows)) - len(rows)
    return _section(said["affected"], rows or [said["none"]], said, more=hidden)


def _test(item: Mapping) -> str:
    names = ", ".join(f"`{name}`" for name in item["tests"][:4])
    return f"`{item['path']}`" + (f" ({names})" if names else "") + f": {item['reason']}"


def _points(title: str, points: Sequence[Mapping], said: Mapping[str, str]) -> list[str]:
    rows = [
        f"{p['text']} ({', '.join(p['evidence'][:4])})" + (f" *{said['model']}*" if p["source"] == "model" else "")
        for p in points
    ]
    return _section(title, rows, said)


def _section(title: str, rows: Sequence[str], said: Mapping[str, str], shown: int = _SHOWN, more: int = 0) -> list[str]:
    if not rows:
        return []
    hidden = max(0, len(rows) - shown) + max(0, more)
    listed = [f"- {row}" for row in rows[:shown]] + ([f"- {said['more'].format(n=hidden)}"] if hidden else [])
    return ["\n".join([f"### {title}", *listed])]
