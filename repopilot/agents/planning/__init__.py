"""Split a large task into ordered parts and work through them."""
