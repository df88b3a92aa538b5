"""The stored indexes that searches use: lexical index, vectors and code graph, and the jobs that build them."""
