"""One emitter per kind of statement."""
