"""A task that code can carry out, taken apart."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place that a task names: what it says it is ('' for nothing) and its name or path as written."""

    name: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class ExactTask:
    """A task that code can carry out.

    Attributes:
        kind: what to do, for example rename or set_value.
        name: what it is done to, without quotes.
        what: what the task says that is: function, class, file and the like, or ''.
        new: the new name, value or text, as written.
        old: the value or text that is expected there, '' where the task doesn't say.
        places: where it is, from the task's words.
        mention: `path:Symbol` where the task mentions it with an @.
    """

    kind: str
    name: str
    what: str = ""
    new: str = ""
    old: str = ""
    places: tuple[NamedPlace, ...] = ()
    mention: str = ""
    extra: dict[str, str] = field(default_factory=dict)
