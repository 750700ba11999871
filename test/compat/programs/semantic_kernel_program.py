"""Semantic Kernel's agent with a plugin."""

from checks import BASE_URL, CITY, KEY, MODEL, WEATHER, expect_answers, refusals, tried
from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function


# Functions have the name of their plugin in front.
TASK = 'Use Guide-find_city for "lions", then use Guide-city_weather for "Oslo".'


class Guide:
    @kernel_function(name="find_city", description="The city where an animal lives.")
    def find_city(self, animal: str) -> str:
        return CITY

    @kernel_function(name="city_weather", description="The weather in a city.")
    def city_weather(self, city: str) -> str:
        return WEATHER


def agent_of(key):
    # For the guide:
    client = AsyncOpenAI(base_url=BASE_URL, api_key=key)
    service = OpenAIChatCompletion(ai_model_id=MODEL, async_client=client)
    # End.
    return ChatCompletionAgent(service=service, name="Guide", instructions="Be short.", plugins=[Guide()])


async def whole():
    response = await agent_of(KEY).get_response(messages=TASK)
    expect_answers(response.message.content)


async def streamed():
    said = ""
    async for response in agent_of(KEY).invoke_stream(messages=TASK):
        said += str(response.message.content)
    expect_answers(said)


tried("chat: two-step tool task", whole)
tried("chat: two-step tool task, streamed", streamed)
refusals(lambda key: agent_of(key).get_response(messages="Say hello."), "chat")
