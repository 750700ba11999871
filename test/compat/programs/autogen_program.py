"""AutoGen's assistant with tools."""

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from checks import BASE_URL, CITY, KEY, MODEL, TASK, WEATHER, expect_answers, refusals, tried


async def find_city(animal: str) -> str:
    """The city where an animal lives."""
    return CITY


async def city_weather(city: str) -> str:
    """The weather in a city."""
    return WEATHER


def agent_of(key):
    # For the guide:
    client = OpenAIChatCompletionClient(
        model=MODEL,
        base_url=BASE_URL,
        api_key=key,
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": True,
            "structured_output": True,
            "family": ModelFamily.UNKNOWN,
        },
    )
    # End.
    return AssistantAgent(
        name="guide",
        model_client=client,
        tools=[find_city, city_weather],
        system_message="Be short.",
        max_tool_iterations=5,
    )


async def whole():
    result = await agent_of(KEY).run(task=TASK)
    expect_answers(result.messages[-1].to_text())


async def streamed():
    last = None
    async for message in agent_of(KEY).run_stream(task=TASK):
        last = message
    expect_answers(last.messages[-1].to_text())


tried("chat: two-step tool task", whole)
tried("chat: two-step tool task, streamed", streamed)
refusals(lambda key: agent_of(key).run(task="Say hello."), "chat")
