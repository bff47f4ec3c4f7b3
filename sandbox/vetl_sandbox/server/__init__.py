"""The HTTP server of the platform, on this machine."""

from vetl_sandbox.server.handle import Handle
from vetl_sandbox.server.serving import running, serve

__all__ = ["Handle", "running", "serve"]
