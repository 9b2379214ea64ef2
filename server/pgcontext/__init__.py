"""Shared, access-controlled memory for teams of AI agents, served over MCP."""

__version__ = "0.1.0"
