"""Pure functions on text and values; nothing here imports the rest of the package."""
