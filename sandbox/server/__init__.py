"""The platform's door: HTTP on this machine."""

from sandbox.server.serving import Handle, running, serve

__all__ = ["Handle", "running", "serve"]
