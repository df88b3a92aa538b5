"""The words the program shows, in English and French."""
