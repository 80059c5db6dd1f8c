"""``vmap``: what a program does for one example, done for a batch: ops rewritten one by one."""
