"""Who sent a request: tokens, what they prove, and an issuer for development."""
