"""The tools: each is a request, one use case and a response."""
