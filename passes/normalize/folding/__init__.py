"""What follows from constants is computed while a program is compiled."""
