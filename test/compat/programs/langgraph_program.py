"""LangGraph's agent over LangChain's clients of OpenAI and Anthropic."""

from checks import BASE_URL, CITY, KEY, MODEL, ORIGIN, TASK, WEATHER, expect_answers, refusals, tried
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


@tool
def find_city(animal: str) -> str:
    """The city where an animal lives."""
    return CITY


@tool
def city_weather(city: str) -> str:
    """The weather in a city."""
    return WEATHER


def models_of(key):
    # For the guide:
    by_chat = ChatOpenAI(model=MODEL, base_url=BASE_URL, api_key=key)
    by_responses = ChatOpenAI(model=MODEL, base_url=BASE_URL, api_key=key, use_responses_api=True, store=False)
    by_messages = ChatAnthropic(model=MODEL, base_url=ORIGIN, api_key=key, max_tokens=4096)
    # End.
    return {"chat": by_chat, "responses": by_responses, "messages": by_messages}


for name in ["chat", "responses", "messages"]:

    def run(name=name, key=KEY, task=TASK):
        agent = create_react_agent(models_of(key)[name], [find_city, city_weather])
        return agent.invoke({"messages": [("user", task)]})["messages"][-1].text

    def streamed(name=name):
        agent = create_react_agent(models_of(KEY)[name], [find_city, city_weather])
        said = "".join(
            chunk.text
            for chunk, _ in agent.stream({"messages": [("user", TASK)]}, stream_mode="messages")
            if chunk.type.startswith("AIMessage")
        )
        expect_answers(said)

    tried(f"{name}: two-step tool task", lambda run=run: expect_answers(str(run())))
    tried(f"{name}: two-step tool task, streamed", streamed)
    refusals(lambda key, run=run: run(key=key, task="Say hello."), name)
