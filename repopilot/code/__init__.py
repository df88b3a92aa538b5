"""What the code says about itself: languages, chunks, symbols, the code graph, schemas."""
