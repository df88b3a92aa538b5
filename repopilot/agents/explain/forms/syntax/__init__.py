"""What syntax trees say: where names stand, what they are bound to, what is raised and returned."""
