"""The model restates a task as one command in the task's own words; code carries the command out."""
