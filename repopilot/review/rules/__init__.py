"""Review rules, by language."""
