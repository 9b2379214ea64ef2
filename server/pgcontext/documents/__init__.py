"""Documents: text out of files, and the folders that files may come from."""
