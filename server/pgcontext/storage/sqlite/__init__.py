"""The storage in a single SQLite file, one module per folder of `sql/`."""
