"""Members, deletions and files in JavaScript, TypeScript, Go, Rust and Java."""
