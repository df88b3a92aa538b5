"""Parts of an answer, as props of elements and as Markdown."""
