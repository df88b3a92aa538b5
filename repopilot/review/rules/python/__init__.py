"""Rules over Python syntax trees."""
