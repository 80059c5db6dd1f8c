"""Steps of a program on a machine of tiles."""
