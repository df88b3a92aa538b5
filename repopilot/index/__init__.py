"""What is stored to search in: lexical index, vectors and code graph, and the jobs that build them."""
