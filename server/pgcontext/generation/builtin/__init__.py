"""The embedding model that comes with the package: no network, no server, no key."""
