"""Tools that look things up: code, text, definitions, uses."""
