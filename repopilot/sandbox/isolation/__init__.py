"""What isolates a run: a module for each level that starts jobs, and what none of them may see."""
