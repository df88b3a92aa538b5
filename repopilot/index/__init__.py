"""What is kept on disk to search with: lexical index, vectors, and the job that builds them."""
