"""The partner platform on this machine: a server by the partner contract that shares no code with vetl."""

from vetl_sandbox.clock import VirtualClock
from vetl_sandbox.faults import Fault
from vetl_sandbox.server import Handle, running, serve
from vetl_sandbox.switches import ListSwitches, Switches
from vetl_sandbox.webhooks.faults import WebhookFault
from vetl_sandbox.world import World

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
