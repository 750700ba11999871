"""openai-agents by both of its models, whole and streamed."""

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from checks import BASE_URL, CITY, KEY, MODEL, TASK, WEATHER, expect_answers, refusals, tried
from openai import AsyncOpenAI

set_tracing_disabled(True)


@function_tool
def find_city(animal: str) -> str:
    """The city where an animal lives."""
    return CITY


@function_tool
def city_weather(city: str) -> str:
    """The weather in a city."""
    return WEATHER


def models_of(key):
    # For the guide:
    client = AsyncOpenAI(base_url=BASE_URL, api_key=key)
    by_chat = OpenAIChatCompletionsModel(MODEL, client)
    by_responses = OpenAIResponsesModel(MODEL, client)
    # End.
    return {"chat": by_chat, "responses": by_responses}


def agent_of(name, key):
    model = models_of(key)[name]
    return Agent(name="Guide", instructions="Be short.", tools=[find_city, city_weather], model=model)


for name in ["chat", "responses"]:

    async def whole(name=name):
        result = await Runner.run(agent_of(name, KEY), TASK)
        expect_answers(result.final_output)

    async def streamed(name=name):
        result = Runner.run_streamed(agent_of(name, KEY), TASK)
        async for _ in result.stream_events():
            pass
        expect_answers(result.final_output)

    async def second_turn(name=name):
        first = await Runner.run(agent_of(name, KEY), TASK)
        asked = first.to_input_list() + [{"role": "user", "content": TASK}]
        expect_answers((await Runner.run(agent_of(name, KEY), asked)).final_output)

    tried(f"{name}: two-step tool task", whole)
    tried(f"{name}: two-step tool task, streamed", streamed)
    tried(f"{name}: a second turn over the first one's history", second_turn)
    refusals(lambda key, name=name: Runner.run(agent_of(name, key), "Say hello."), name)
