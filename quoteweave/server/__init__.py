"""Serves cited answers over HTTP and MCP: a thin layer over `quoteweave.pipeline`."""
