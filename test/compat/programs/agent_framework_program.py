"""Microsoft Agent Framework by chat completions and by responses."""

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from checks import BASE_URL, CITY, KEY, MODEL, TASK, WEATHER, expect_answers, refusals, tried


def find_city(animal: str) -> str:
    """The city where an animal lives."""
    return CITY


def city_weather(city: str) -> str:
    """The weather in a city."""
    return WEATHER


def agent_of(kind, key):
    # For the guide:
    by_chat = OpenAIChatCompletionClient(model=MODEL, base_url=BASE_URL, api_key=key)
    by_responses = OpenAIChatClient(model=MODEL, base_url=BASE_URL, api_key=key)
    options = {"store": False}  # of each agent whose client speaks responses
    # End.
    client = {"chat": by_chat, "responses": by_responses}[kind]
    default_options = options if kind == "responses" else None
    return Agent(
        client=client, instructions="Be short.", tools=[find_city, city_weather], default_options=default_options
    )


for kind in ["chat", "responses"]:

    async def whole(kind=kind):
        expect_answers((await agent_of(kind, KEY).run(TASK)).text)

    async def streamed(kind=kind):
        said = ""
        async for update in agent_of(kind, KEY).run(TASK, stream=True):
            said += update.text
        expect_answers(said)

    tried(f"{kind}: two-step tool task", whole)
    tried(f"{kind}: two-step tool task, streamed", streamed)
    refusals(lambda key, kind=kind: agent_of(kind, key).run("Say hello."), kind)
