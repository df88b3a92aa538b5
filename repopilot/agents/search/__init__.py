"""Search: ranked places with the lines that matter, without any model."""
