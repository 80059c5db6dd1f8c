"""State of programs as users see it: variables and sessions."""
