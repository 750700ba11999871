"""pydantic-ai by four of its models, with tools and with typed output."""

from checks import BASE_URL, CITY, KEY, MODEL, ORIGIN, TASK, WEATHER, expect_answers, refusals, tried
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider


class Place(BaseModel):
    city: str


def models_of(key):
    # For the guide:
    openai = OpenAIProvider(base_url=BASE_URL, api_key=key)
    by_chat = OpenAIChatModel(MODEL, provider=openai)
    by_responses = OpenAIResponsesModel(MODEL, provider=openai)
    anthropic = AnthropicProvider(base_url=ORIGIN, api_key=key)
    by_messages = AnthropicModel(MODEL, provider=anthropic)
    openrouter = OpenRouterProvider(openai_client=AsyncOpenAI(base_url=BASE_URL, api_key=key))
    as_openrouter = OpenRouterModel(MODEL, provider=openrouter)
    # End.
    return {"chat": by_chat, "responses": by_responses, "messages": by_messages, "openrouter": as_openrouter}


def agent_of(name, key, **more):
    agent = Agent(models_of(key)[name], instructions="Be short.", **more)

    @agent.tool_plain
    def find_city(animal: str) -> str:
        """The city where an animal lives."""
        return CITY

    @agent.tool_plain
    def city_weather(city: str) -> str:
        """The weather in a city."""
        return WEATHER

    return agent


for name in ["chat", "responses", "messages", "openrouter"]:

    async def whole(name=name):
        expect_answers((await agent_of(name, KEY).run(TASK)).output)

    async def streamed(name=name):
        async with agent_of(name, KEY).run_stream(TASK) as result:
            expect_answers(await result.get_output())

    async def second_turn(name=name):
        first = await agent_of(name, KEY).run(TASK)
        expect_answers((await agent_of(name, KEY).run(TASK, message_history=first.all_messages())).output)

    async def typed(name=name):
        result = await Agent(models_of(KEY)[name], output_type=Place).run("Name a city.")
        assert isinstance(result.output, Place)

    tried(f"{name}: two-step tool task", whole)
    tried(f"{name}: two-step tool task, streamed", streamed)
    tried(f"{name}: a second turn over the first one's history", second_turn)
    tried(f"{name}: typed output", typed)
    refusals(lambda key, name=name: agent_of(name, key).run("Say hello."), name)
