"""The official Python packages, told what to call line by line.

Reads one JSON object a line and answers each with one: the same calls as of every other client, in client.ts.
"""

import json
import sys

import anthropic
import openai

SAID = json.loads(sys.stdin.readline())
FUNCTIONS = [{"type": "function", "function": tool} for tool in SAID["tools"]]


def cost_of(usage):
    return getattr(usage, "cost", None)


def failure_of(call):
    try:
        call()
    except (openai.APIError, anthropic.APIError) as error:
        body = error.body if isinstance(error.body, dict) else {}
        inner = body.get("error", body)
        return {
            "name": type(error).__name__,
            "status": getattr(error, "status_code", None),
            "code": inner.get("code"),
            "message": str(error),
        }
    raise RuntimeError("The call did not fail.")


class Calls:
    """What every client does."""

    def refused(self, model):
        return failure_of(lambda: self.text(model))

    def broken(self, model):
        return failure_of(lambda: self.stream(model))


class OpenaiChat(Calls):
    def __init__(self, base_url, key):
        self.create = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0).chat.completions.create
        self.helper = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0).chat.completions.stream
        self.messages = [
            {"role": "system", "content": SAID["system"]},
            {"role": "user", "content": SAID["prompt"]},
        ]

    @staticmethod
    def told(answer):
        return {
            "text": answer.choices[0].message.content,
            "model": answer.model,
            "costs": [cost_of(answer.usage)],
        }

    def text(self, model, **more):
        return self.told(self.create(**{"model": model, "messages": self.messages, **more}))

    def whole(self, **request):
        with self.helper(**request, stream_options={"include_usage": True}) as events:
            return events.get_final_completion()

    def stream(self, model):
        return self.told(self.whole(model=model, messages=self.messages))

    def ask(self, model, streamed, **more):
        request = {
            "model": model,
            "messages": [{"role": "user", "content": SAID["question"]}],
            "tools": FUNCTIONS,
            "tool_choice": "required",
            **more,
        }
        return self.whole(**request) if streamed else self.create(**request)

    @staticmethod
    def called(answer):
        return [
            {"name": call.function.name, "arguments": json.loads(call.function.arguments)}
            for call in answer.choices[0].message.tool_calls
        ]

    def tools(self, model, streamed):
        first = self.ask(model, streamed)
        message = first.choices[0].message
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": SAID["results"][call.function.name]}
            for call in message.tool_calls
        ]
        question = {"role": "user", "content": SAID["question"]}
        asked = message.model_dump(exclude_none=True, exclude={"parsed"})
        for call in asked["tool_calls"]:
            call["function"].pop("parsed_arguments", None)
            call.pop("index", None)
        answer = self.text(model, messages=[question, asked, *results], tools=FUNCTIONS)
        return {**answer, "costs": [cost_of(first.usage), *answer["costs"]], "called": self.called(first)}

    def one_tool(self, model):
        return self.called(self.ask(model, False, parallel_tool_calls=False))

    def structured(self, model):
        wanted = {"name": "answer", "schema": SAID["answer"], "strict": True}
        return self.text(model, response_format={"type": "json_schema", "json_schema": wanted})

    def image(self, model):
        parts = [
            {"type": "text", "text": SAID["prompt"]},
            {"type": "image_url", "image_url": {"url": SAID["image"]}},
        ]
        return self.text(model, messages=[{"role": "user", "content": parts}])

    def fallback(self, model, fallback):
        return self.text(model, extra_body={"models": [fallback]})

    def hang_up(self, model):
        with self.create(model=model, messages=self.messages, stream=True) as chunks:
            for chunk in chunks:
                if chunk.choices and chunk.choices[0].delta.content:
                    return


class OpenaiResponses(Calls):
    def __init__(self, base_url, key):
        self.responses = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0).responses
        self.functions = [{"type": "function", "strict": True, **tool} for tool in SAID["tools"]]

    @staticmethod
    def told(answer):
        return {"text": answer.output_text, "model": answer.model, "costs": [cost_of(answer.usage)]}

    def text(self, model, **more):
        request = {"model": model, "input": SAID["prompt"], "instructions": SAID["system"], **more}
        return self.told(self.responses.create(**request))

    def whole(self, **request):
        with self.responses.stream(**request) as events:
            return events.get_final_response()

    def stream(self, model):
        question = [{"role": "user", "content": SAID["prompt"]}]
        return self.told(self.whole(model=model, input=question, instructions=SAID["system"]))

    def ask(self, model, streamed, **more):
        request = {
            "model": model,
            "input": [{"role": "user", "content": SAID["question"]}],
            "tools": self.functions,
            "tool_choice": "required",
            **more,
        }
        return self.whole(**request) if streamed else self.responses.create(**request)

    @staticmethod
    def called(answer):
        return [
            {"name": item.name, "arguments": json.loads(item.arguments)}
            for item in answer.output
            if item.type == "function_call"
        ]

    def tools(self, model, streamed):
        first = self.ask(model, streamed)
        calls = [item for item in first.output if item.type == "function_call"]
        asked = [
            {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            for call in calls
        ]
        results = [
            {"type": "function_call_output", "call_id": call.call_id, "output": SAID["results"][call.name]}
            for call in calls
        ]
        question = {"role": "user", "content": SAID["question"]}
        answer = self.text(model, input=[question, *asked, *results], tools=self.functions)
        return {**answer, "costs": [cost_of(first.usage), *answer["costs"]], "called": self.called(first)}

    def one_tool(self, model):
        return self.called(self.ask(model, False, parallel_tool_calls=False))

    def structured(self, model):
        wanted = {"type": "json_schema", "name": "answer", "schema": SAID["answer"], "strict": True}
        return self.text(model, text={"format": wanted})

    def image(self, model):
        parts = [
            {"type": "input_text", "text": SAID["prompt"]},
            {"type": "input_image", "image_url": SAID["image"], "detail": "auto"},
        ]
        return self.text(model, input=[{"role": "user", "content": parts}])

    def fallback(self, model, fallback):
        return self.text(model, extra_body={"models": [fallback]})

    def hang_up(self, model):
        with self.responses.create(model=model, input=SAID["prompt"], stream=True) as events:
            for event in events:
                if event.type == "response.output_text.delta":
                    return


class AnthropicMessages(Calls):
    def __init__(self, base_url, key):
        host = base_url.removesuffix("/v1")
        self.messages = anthropic.Anthropic(base_url=host, api_key=key, max_retries=0).messages
        self.definitions = [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in SAID["tools"]
        ]

    @staticmethod
    def told(message, cost):
        text = "".join(block.text for block in message.content if block.type == "text")
        return {"text": text, "model": message.model, "costs": [cost]}

    @staticmethod
    def request(model, **more):
        return {
            "model": model,
            "max_tokens": SAID["tokensMax"],
            "system": SAID["system"],
            "messages": [{"role": "user", "content": SAID["prompt"]}],
            **more,
        }

    def text(self, model, **more):
        message = self.messages.create(**self.request(model, **more))
        return self.told(message, cost_of(message.usage))

    def streamed(self, model, **more):
        cost = None
        with self.messages.stream(**self.request(model, **more)) as events:
            for event in events:
                if event.type == "message_delta":
                    cost = cost_of(event.usage)
            return events.get_final_message(), cost

    def stream(self, model):
        return self.told(*self.streamed(model))

    @staticmethod
    def called(message):
        return [
            {"name": block.name, "arguments": block.input}
            for block in message.content
            if block.type == "tool_use"
        ]

    def tools(self, model, streamed):
        question = {"role": "user", "content": SAID["question"]}
        asked = {"messages": [question], "tools": self.definitions, "tool_choice": {"type": "any"}}
        if streamed:
            first, cost = self.streamed(model, **asked)
        else:
            first = self.messages.create(**self.request(model, **asked))
            cost = cost_of(first.usage)
        calls = [block for block in first.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": SAID["results"][call.name]}
            for call in calls
        ]
        said = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in calls
        ]
        turns = [question, {"role": "assistant", "content": said}, {"role": "user", "content": results}]
        answer = self.text(model, messages=turns, tools=self.definitions)
        return {**answer, "costs": [cost, *answer["costs"]], "called": self.called(first)}

    def one_tool(self, model):
        choice = {"type": "any", "disable_parallel_tool_use": True}
        question = [{"role": "user", "content": SAID["question"]}]
        request = self.request(model, messages=question, tools=self.definitions, tool_choice=choice)
        return self.called(self.messages.create(**request))

    def structured(self, model):
        return self.text(
            model, output_config={"format": {"type": "json_schema", "schema": SAID["answer"]}}
        )

    def image(self, model):
        parts = [
            {"type": "image", "source": {"type": "url", "url": SAID["image"]}},
            {"type": "text", "text": SAID["prompt"]},
        ]
        return self.text(model, messages=[{"role": "user", "content": parts}])

    def fallback(self, model, fallback):
        return self.text(model, extra_body={"models": [fallback]})

    def hang_up(self, model):
        with self.messages.create(**self.request(model), stream=True) as events:
            for event in events:
                if event.type == "content_block_delta":
                    return


CLIENTS = {
    "openai chat": OpenaiChat,
    "openai responses": OpenaiResponses,
    "anthropic messages": AnthropicMessages,
}

for line in sys.stdin:
    told = json.loads(line)
    calls = CLIENTS[told["client"]](told["baseUrl"], told["key"])
    try:
        answer = {"result": getattr(calls, told["call"])(*told["args"])}
    except Exception as error:  # noqa: BLE001 - whatever it is, the test that asked has to show it
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
