"""The routes of the server's own API, a module for each resource."""
