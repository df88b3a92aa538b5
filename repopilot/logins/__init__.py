"""Logins of a team: who makes a request, and which repositories they may see."""
