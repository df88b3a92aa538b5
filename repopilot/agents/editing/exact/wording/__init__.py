"""From the words of a task to what it asks for: lexer, clauses, frames. Pure."""
