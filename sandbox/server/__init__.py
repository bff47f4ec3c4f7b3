"""The HTTP server of the platform, on this machine."""

from sandbox.server.handle import Handle
from sandbox.server.serving import running, serve

__all__ = ["Handle", "running", "serve"]
