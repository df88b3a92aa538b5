"""Files that are deleted or get another name, and who names them."""
