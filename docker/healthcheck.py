"""Exits with status 0 when the server on MCP_HTTP_PORT says that it can serve."""

import http.client
import os

connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["MCP_HTTP_PORT"]), timeout=8)
connection.request("GET", "/readyz")
raise SystemExit(connection.getresponse().status != http.client.OK)
