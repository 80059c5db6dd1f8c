"""``ipu-sweep``: settings, what each of them gives, and the table, page and data files of them."""
