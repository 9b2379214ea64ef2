"""The wire contract: what each tool takes and returns."""
