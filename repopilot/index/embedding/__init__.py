"""How embedding models are run: those of a server, and the built-in one in int8."""
