"""What a repository is: purpose, entry points, components and how they depend on each other, flows, commands."""
