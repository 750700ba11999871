"""The official Python package of the protocol, told what to call line by line.

The first line says where, by which key and in which way; each one after it is answered with one.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def told_of(result):
    return {
        "isError": bool(result.is_error),
        "text": result.content[0].text,
        "record": result.structured_content,
    }


async def answer(client, told):
    if told["call"] == "tools":
        return [tool.name for tool in (await client.list_tools()).tools]
    return told_of(await client.call_tool(told["tool"], told["args"]))


async def main():
    account = json.loads(sys.stdin.readline())
    http_client = httpx2.AsyncClient(headers={"authorization": f"Bearer {account['key']}"})
    transport = streamable_http_client(account["mcpUrl"], http_client=http_client)
    async with http_client, Client(transport, mode=account["mode"]) as client:
        # One after another: nothing else has to go on meanwhile.
        for line in iter(sys.stdin.readline, ""):
            try:
                print(json.dumps({"result": await answer(client, json.loads(line))}), flush=True)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test that asked has to show it
                print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
