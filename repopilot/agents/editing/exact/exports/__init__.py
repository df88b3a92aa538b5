"""What a package, index or crate offers to others: exporting a definition from it, and no longer doing so."""
