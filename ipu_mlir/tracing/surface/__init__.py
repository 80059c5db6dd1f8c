"""What users touch while a function is traced: the tensor, and the function itself."""
