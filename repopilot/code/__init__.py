"""Static analysis of source text: languages, chunks, symbols, imports, schemas and the code graph."""
