"""The attributes of the dialect, and what they say of modules and types."""
