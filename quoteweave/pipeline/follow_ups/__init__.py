"""Rewrites questions that follow others so that they can be understood alone."""
