"""Code for a task: by the loop with tools where the model can use them."""
