"""Query sets with known answers, made from public repositories: commits, questions, docstrings and stack traces."""
