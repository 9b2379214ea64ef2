"""The PostgreSQL backend: a pool, one call per stored function, and the installer."""
