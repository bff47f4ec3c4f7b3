"""The partner platform on this machine: a server by the partner contract that shares no code with vetl."""

from sandbox.clock import VirtualClock
from sandbox.faults import Fault
from sandbox.server import Handle, running, serve
from sandbox.switches import ListSwitches, Switches
from sandbox.webhooks.faults import WebhookFault
from sandbox.world import World

__all__ = [
    "Fault",
    "Handle",
    "ListSwitches",
    "Switches",
    "VirtualClock",
    "WebhookFault",
    "World",
    "running",
    "serve",
]
