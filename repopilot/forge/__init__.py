"""GitHub and GitLab: issues become pull requests, pull requests get reviews."""
