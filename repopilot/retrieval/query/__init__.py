"""What a question says: its words, names, paths, filters, parts and kind, and what the index knows of them."""
