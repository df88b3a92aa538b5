"""What names mean by the syntax alone, where no language server tells."""
