"""A tour of the API by the generated client; copy from it what you need.

    FAREGATE_KEY=<key> python tour.py [operation ...]

Prints one line of JSON for each operation. FAREGATE_URL is the gateway's address (http://127.0.0.1:8080/v1).
"""

import base64
import json
import os
import sys
import time
import uuid

import httpx
from faregate import AuthenticatedClient
from faregate.api.account import get_balance
from faregate.api.inference import create_chat_completion, create_message
from faregate.api.markets import get_order_book, list_markets
from faregate.api.uploads import create_upload
from faregate.api.videos import create_video, get_video, get_video_content
from faregate.models import (
    ChatCompletionChunk,
    ChatCompletionRequest,
    ChatMessage,
    Message,
    MessagesRequest,
    StreamOptions,
    UploadRequest,
    VideoRequest,
)

BASE_URL = os.environ.get("FAREGATE_URL", "http://127.0.0.1:8080/v1")
KEY = os.environ.get("FAREGATE_KEY") or sys.exit("Set FAREGATE_KEY to a key of yours.")
MODEL = "faregate-sim/small"
ATTEMPTS = 3
LONGEST_WAIT_MS = 60_000
# What the gateway answers with; a file is a redirect first, and then a video.
TYPES = ("application/json", "text/event-stream", "video/")


class Refusal(Exception):
    """An answer that is no success. Branch on `code`: it stays, messages may be reworded."""

    def __init__(self, status: int, code: str | None, message: str) -> None:
        super().__init__(f"HTTP {status}{'' if code is None else f' {code}'}: {message}")
        self.status = status
        self.code = code


class PatientTransport(httpx.HTTPTransport):
    """Stands under the generated code: waits where the answer says how long, and raises a `Refusal` for any other
    failure. The generated code knows no status 529, and takes whatever a proxy says for JSON."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in range(1, ATTEMPTS + 1):
            response = super().handle_request(request)
            kind = response.headers.get("content-type", "")
            if response.is_redirect or (response.is_success and kind.startswith(TYPES)):
                return response
            response.read()
            wait_ms = wait_ms_of(response)
            if wait_ms is None or attempt == ATTEMPTS:
                break
            time.sleep(wait_ms / 1000)
        raise refusal_of(response.status_code, body_of(response), kind)


def wait_ms_of(response: httpx.Response) -> int | None:
    said = response.headers.get("retry-after-ms", "")
    return int(said) if said.isdecimal() and int(said) <= LONGEST_WAIT_MS else None


def body_of(response: httpx.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return None


def refusal_of(status: int, body: object, kind: str) -> Refusal:
    said = body if isinstance(body, dict) else {}
    error, description = said.get("error"), said.get("error_description")
    # The MCP server tells in OAuth's words what is wrong with a key.
    if isinstance(error, str) and isinstance(description, str):
        return Refusal(status, error, description)
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return Refusal(status, error.get("code"), error["message"])
    return Refusal(status, None, f"not an answer of the gateway, but {kind or 'something without a type'}")


client = AuthenticatedClient(
    base_url=BASE_URL,
    token=KEY,
    follow_redirects=True,
    timeout=httpx.Timeout(60),
    httpx_args={"transport": PatientTransport()},
)


def balance() -> dict:
    answer = get_balance.sync(client=client)
    return {"spendable_usd": answer.spendable_usd, "agent_status": answer.agent.status}


def chat() -> dict:
    body = ChatCompletionRequest(model=MODEL, max_tokens=50, messages=[ChatMessage(role="user", content="Hello")])
    answer = create_chat_completion.sync(client=client, body=body)
    return {"text": answer.choices[0].message.content, "cost": answer.usage.cost}


def stream() -> dict:
    """The generated functions read whole answers: a stream is read by their httpx client."""
    body = ChatCompletionRequest(
        model=MODEL,
        max_tokens=50,
        messages=[ChatMessage(role="user", content="Count to three")],
        stream=True,
        stream_options=StreamOptions(include_usage=True),
    )
    text, cost = "", None
    with client.get_httpx_client().stream(**create_chat_completion._get_kwargs(body=body)) as response:
        for chunk in chunks_of(response):
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
            if chunk.usage:
                cost = chunk.usage.cost
    return {"text": text, "cost": cost}


def message() -> dict:
    """The messages format has a status of its own for a busy model: 529."""
    body = MessagesRequest(model=MODEL, max_tokens=50, messages=[Message(role="user", content="Hello")])
    answer = create_message.sync(client=client, body=body)
    return {"text": answer.content[0].text, "cost": answer.usage.cost}


def refusal() -> dict:
    codes = []
    for model, n in (("nobody/nothing", 1), ("faregate-sim/large", 128)):
        body = ChatCompletionRequest(model=model, n=n, messages=[ChatMessage(role="user", content="Hello")])
        try:
            create_chat_completion.sync(client=client, body=body)
        except Refusal as refused:
            match refused.code:
                case "unknown_model":
                    codes.append("unknown_model")
                case "insufficient_balance":
                    # Nothing was charged: send a lower `max_tokens`, or add credit.
                    codes.append("insufficient_balance")
                case _:
                    raise
    return {"codes": codes}


def upload() -> dict:
    started = create_upload.sync(client=client, body=UploadRequest(content_type="image/png", size=len(IMAGE)))
    headers = started.upload_headers.additional_properties
    put = httpx.request(started.upload_method, started.upload_url, headers=headers, content=IMAGE)
    return {"put": put.status_code, "url": started.url, "size": len(httpx.get(started.url).content)}


def video() -> dict:
    order = VideoRequest(
        model="faregate-sim/clip", prompt="A harbour at dawn", duration=1, resolution="480p", aspect_ratio="16:9"
    )
    # Sent again with the same key, an order answers with the same video and makes no new one.
    job = create_video.sync(client=client, body=order, idempotency_key=str(uuid.uuid4()))
    # A status that this program does not know is one on the way to these.
    while job.status not in ("completed", "failed", "expired"):
        time.sleep(1)
        job = get_video.sync(job.id, client=client)
    if job.status != "completed":
        raise RuntimeError(f"the video ended as {job.status}: {job.error and job.error.code}")
    content = get_video_content.sync_detailed(job.id, client=client).content
    return {"id": job.id, "bytes": len(content), "cost": job.usage and job.usage.cost}


def calls() -> dict:
    """Only a tool of the MCP server has pages. It is called by plain JSON-RPC, with the same key."""
    ids, pages, before = [], 0, {}
    while True:
        page = call_tool("list_calls", {"limit": 2, **before})
        ids += [call["id"] for call in page["calls"]]
        pages += 1
        if page["next"] is None:
            return {"pages": pages, "calls": len(set(ids))}
        before = {"before": page["next"]}


def book() -> dict:
    """Needs no key."""
    market = first_market()
    if market is None:
        return {"market": None}
    answer = get_order_book.sync(market, client=client, depth=5)
    return {"market": answer.market, "seq": answer.seq, "best_bid": answer.bids[0].price if answer.bids else None}


def first_market() -> str | None:
    try:
        markets = list_markets.sync(client=client).markets
    except Refusal as refused:
        # The exchange is not open yet.
        if refused.code == "not_found":
            return None
        raise
    return markets[0].id if markets else None


def chunks_of(response: httpx.Response):
    """The events of a stream, each as it comes. Raises where the stream was cut."""
    for line in lines_of(response):
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            return
        event = json.loads(data)
        if event.get("error"):
            raise refusal_of(200, event, "an error without a message")
        yield ChatCompletionChunk.from_dict(event)
    raise RuntimeError("the stream was cut before its end")


def lines_of(response: httpx.Response):
    """Not `iter_lines`, which also ends lines at U+2028 and others that may stand in a text."""
    rest = ""
    for piece in response.iter_text():
        *lines, rest = (rest + piece).split("\n")
        yield from lines


def call_tool(name: str, arguments: dict) -> dict:
    question = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = client.get_httpx_client().post(
        BASE_URL.removesuffix("/v1") + "/mcp",
        json=question,
        headers={"accept": "application/json, text/event-stream"},
    )
    result = answer.json()["result"]
    if result.get("isError"):
        # What a tool refuses is a sentence.
        raise RuntimeError(result["content"][0]["text"])
    return result["structuredContent"]


IMAGE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

OPERATIONS = {each.__name__: each for each in (balance, chat, stream, message, refusal, upload, video, calls, book)}


def main() -> int:
    failures = 0
    for name in sys.argv[1:] or OPERATIONS:
        operation = OPERATIONS.get(name)
        if operation is None:
            print(f"There is no {name}. There are: {', '.join(OPERATIONS)}.", file=sys.stderr)
            failures += 1
            continue
        try:
            print(json.dumps({"operation": name, **operation()}), flush=True)
        except (Refusal, RuntimeError, httpx.HTTPError, ValueError) as error:
            print(f"{name} failed: {error}", file=sys.stderr)
            failures += 1
        except (LookupError, TypeError, AttributeError) as error:
            print(f"{name} failed: the answer is not as the document has it: {error!r}", file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
