"""Conversations that outlive the page: stored by thread, shown again, resumed."""
