"""From a task to checked file changes: places, edits, evidence, debate and verdict."""
