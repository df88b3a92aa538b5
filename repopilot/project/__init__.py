"""What a repository declares of itself: packages, dependencies, commands, how its tests run. Nothing is executed."""
