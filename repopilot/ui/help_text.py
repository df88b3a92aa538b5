"""The help: what can be typed, with examples."""

from __future__ import annotations

from repopilot import i18n, intents
from repopilot.agents.coding.typed_commands import FORMS
from repopilot.release import release


def help_text(language: str) -> str:
    """The commands as a list in Markdown, what else the message box takes, and RepoPilot's version. Blocking."""
    rows = [
        (f"/{spec.command} {i18n.text(f'intents.{spec.id.lower()}.example', language)}", spec.description(language))
        for spec in intents.INTENTS
        if spec.command
    ]
    rows += [
        (form.usage, i18n.text(f"commands.does.{name}", language).rstrip(":\u202f ")) for name, form in FORMS.items()
    ]
    rows.append(("/demo", i18n.text("testing.demo.does", language)))
    listed = [f"- `{typed}`  \n  {does}" for typed, does in rows]
    made = f"RepoPilot {i18n.translated(release(), language)}"
    return "\n".join(
        [i18n.text("ui.help.lead", language), "", *listed, "", i18n.text("ui.help.more", language), "", made]
    )
