"""What a change touches, from evidence: the code graph, the tests, the text, the history. No model needed."""
