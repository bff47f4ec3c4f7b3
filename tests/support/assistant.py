"""A client of `vetl mcp` over stdio, which asks as an assistant asks."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.client.stdio import StdioServerParameters

VETL: tuple[str, ...] = (sys.executable, "-c", "from vetl.cli.app import main; main()")


class Assistant:
    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal, self._client = portal, client

    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools).tools}

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self._portal.call(self._client.call_tool, tool, arguments)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    def refused(self, tool: str, **arguments: Any) -> str:
        result = self._portal.call(self._client.call_tool, tool, arguments)
        assert result.is_error, result.structured_content
        (content,) = result.content
        return getattr(content, "text", "")

    def ask(self, metric: str, **arguments: Any) -> list[list[Any]]:
        return self.call("ask", metric=metric, **arguments)["rows"]


@asynccontextmanager
async def client_of(*options: str, folder: Path = Path()) -> AsyncGenerator[Client]:
    command, *arguments = [*VETL, "-C", str(folder), "mcp", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
    async with Client(StdioServerParameters(command=command, args=arguments, env=environment)) as client:
        yield client
