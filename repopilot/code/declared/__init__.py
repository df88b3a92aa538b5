"""What a text declares to the outside: options, commands, environment variables, routes, and lists of names."""
