"""The official Python SDKs of OpenAI and Anthropic."""

import json

from anthropic import Anthropic
from checks import BASE_URL, CITY, KEY, MODEL, ORIGIN, TASK, WEATHER, expect_answers, refusals, tried
from openai import OpenAI

RESULTS = {"find_city": CITY, "city_weather": WEATHER}
SCHEMAS = {
    "find_city": {"type": "object", "properties": {"animal": {"type": "string"}}, "required": ["animal"]},
    "city_weather": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TURNS = 5


def clients_of(key):
    # For the guide:
    openai = OpenAI(base_url=BASE_URL, api_key=key)
    anthropic = Anthropic(base_url=ORIGIN, api_key=key)
    # End.
    return openai, anthropic


def openai_client(key):
    return clients_of(key)[0].with_options(max_retries=0)


def anthropic_client(key):
    return clients_of(key)[1].with_options(max_retries=0)


def chat(streamed):
    client = openai_client(KEY)
    messages = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMAS[name]}} for name in SCHEMAS]
    for _ in range(TURNS):
        body = {"model": MODEL, "messages": messages, "tools": tools}
        if streamed:
            with client.chat.completions.stream(**body) as events:
                answer = events.get_final_completion()
        else:
            answer = client.chat.completions.create(**body)
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump())
        for call in message.tool_calls:
            json.loads(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULTS[call.function.name]})
    raise AssertionError("It calls tools for ever.")


def responses(streamed):
    client = openai_client(KEY)
    asked = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "name": name, "parameters": SCHEMAS[name], "strict": False} for name in SCHEMAS]
    for _ in range(TURNS):
        body = {"model": MODEL, "input": asked, "tools": tools, "store": False}
        if streamed:
            with client.responses.stream(**body) as events:
                answer = events.get_final_response()
        else:
            answer = client.responses.create(**body)
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        asked += [item.model_dump() for item in answer.output]
        for call in calls:
            asked.append({"type": "function_call_output", "call_id": call.call_id, "output": RESULTS[call.name]})
    raise AssertionError("It calls tools for ever.")


def messages(streamed):
    client = anthropic_client(KEY)
    asked = [{"role": "user", "content": TASK}]
    tools = [{"name": name, "input_schema": SCHEMAS[name]} for name in SCHEMAS]
    for _ in range(TURNS):
        body = {"model": MODEL, "max_tokens": 1000, "messages": asked, "tools": tools}
        if streamed:
            with client.messages.stream(**body) as events:
                answer = events.get_final_message()
        else:
            answer = client.messages.create(**body)
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in answer.content if block.type == "text")
        asked.append({"role": "assistant", "content": [block.model_dump() for block in answer.content]})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": RESULTS[call.name]} for call in calls]
        asked.append({"role": "user", "content": results})
    raise AssertionError("It calls tools for ever.")


for name, loop in {"openai, chat": chat, "openai, responses": responses, "anthropic": messages}.items():
    tried(f"{name}: two-step tool task", lambda loop=loop: expect_answers(loop(False)))
    tried(f"{name}: two-step tool task, streamed", lambda loop=loop: expect_answers(loop(True)))

HELLO = [{"role": "user", "content": "Say hello."}]
refusals(lambda key: openai_client(key).chat.completions.create(model=MODEL, messages=HELLO), "openai, chat")
refusals(lambda key: openai_client(key).responses.create(model=MODEL, input="Say hello."), "openai, responses")
refusals(lambda key: anthropic_client(key).messages.create(model=MODEL, max_tokens=9, messages=HELLO), "anthropic")
