"""LangChain's standard tests of a chat model, by three formats. Run by pytest."""

import os

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests

ORIGIN = os.environ["FAREGATE_ORIGIN"]
COMMON = {"model": os.environ["FAREGATE_MODEL"], "api_key": os.environ["FAREGATE_KEY"], "max_retries": 0}
OPENAI = {**COMMON, "base_url": f"{ORIGIN}/v1"}


class TestChat(ChatModelIntegrationTests):
    @property
    def chat_model_class(self):
        return ChatOpenAI

    @property
    def chat_model_params(self):
        return {**OPENAI, "stream_usage": True}


class TestResponses(ChatModelIntegrationTests):
    @property
    def chat_model_class(self):
        return ChatOpenAI

    @property
    def chat_model_params(self):
        return {**OPENAI, "use_responses_api": True, "store": False}


class TestMessages(ChatModelIntegrationTests):
    @property
    def chat_model_class(self):
        return ChatAnthropic

    @property
    def chat_model_params(self):
        return {**COMMON, "base_url": ORIGIN, "max_tokens": 4096}


@pytest.fixture(scope="session")
def vcr_config():
    return {}
