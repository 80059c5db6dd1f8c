"""A superstep program as a tree of steps: what profiles and the check of memory walk over."""
