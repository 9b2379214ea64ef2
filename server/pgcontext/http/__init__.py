"""The server over HTTP: what surrounds the protocol, from the proxy in front to the figures behind."""
