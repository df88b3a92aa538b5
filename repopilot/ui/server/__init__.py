"""The web server: start, page, security, lifecycle."""
