"""A program on the models that datamodel-code-generator makes. It must pass mypy in its strict mode."""

import json
import os
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from models import (
    Balance,
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionRequest,
    ChatMessage,
    ContentPart,
    ErrorResponse,
    ModelList,
    StreamOptions,
)

URL = os.environ["FAREGATE_URL"]
KEY = os.environ["FAREGATE_KEY"]


def call(path: str, body: ChatCompletionRequest | None = None, key: str = KEY) -> str:
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    data = None if body is None else body.model_dump_json(exclude_none=True).encode()
    with urlopen(Request(URL + path, data, headers)) as answer:
        text: bytes = answer.read()
    return text.decode()


def ask(content: str | list[ContentPart]) -> ChatCompletionRequest:
    message = ChatMessage(role="user", content=content)
    return ChatCompletionRequest(model="faregate-sim/small", messages=[message])


def chat(body: ChatCompletionRequest) -> dict[str, Any]:
    answer = ChatCompletion.model_validate_json(call("/chat/completions", body))
    return {"text": answer.choices[0].message.content, "cost": answer.usage.cost}


models = [model.id for model in ModelList.model_validate_json(call("/models")).data]
spendable_usd = Balance.model_validate_json(call("/balance")).spendable_usd

streamed = ask("Hello").model_copy(update={"stream": True, "stream_options": StreamOptions(include_usage=True)})
events = [event.removeprefix("data: ") for event in call("/chat/completions", streamed).split("\n\n")]
chunks = [ChatCompletionChunk.model_validate_json(data) for data in events if data.startswith("{")]
last = chunks[-1].usage


def refusal() -> dict[str, Any]:
    try:
        call("/chat/completions", ask("Hello"), os.environ["FAREGATE_EMPTY_KEY"])
    except HTTPError as error:
        code: str = ErrorResponse.model_validate_json(error.read()).error.code
        return {"status": error.code, "code": code}
    raise AssertionError("It was not refused.")


print(
    json.dumps(
        {
            "models": models,
            "spendable_usd": spendable_usd,
            "chat": chat(ask("Hello")),
            "parts": chat(ask([ContentPart(type="text", text="Hello")])),
            "stream": {
                "text": "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices),
                "cost": None if last is None else last.cost,
                "done": "[DONE]" in events,
            },
            "refusal": refusal(),
        }
    )
)
