"""The chat in the browser. Only this package and chainlit_app.py know Chainlit."""
