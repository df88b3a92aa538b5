"""Rules written in ast-grep's YAML."""
