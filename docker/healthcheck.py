"""Exits with status 0 when the server on MCP_HTTP_PORT answers the smallest request of the protocol."""

import http.client
import json
import os

connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["MCP_HTTP_PORT"]), timeout=5)
connection.request(
    "POST",
    "/mcp",
    json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
)
raise SystemExit("result" not in json.load(connection.getresponse()))
