"""What the browser shows. The only package besides chainlit_app.py that knows Chainlit."""
