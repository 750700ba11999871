"""Every program here tries things and prints one line of JSON for each."""

import asyncio
import json
import os
import traceback

ORIGIN = os.environ["FAREGATE_ORIGIN"]
BASE_URL = f"{ORIGIN}/v1"
KEY = os.environ["FAREGATE_KEY"]
EMPTY_KEY = os.environ["FAREGATE_EMPTY_KEY"]
WRONG_KEY = os.environ["FAREGATE_WRONG_KEY"]
MODEL = os.environ["FAREGATE_MODEL"]

# The model of the simulator calls the tool that each step names, with what stands in quotes.
TASK = 'Use find_city for "lions", then use city_weather for "Oslo".'
CITY = "The lions live in Oslo."
WEATHER = "It is 7 degrees."


def expect(found, expected):
    """The text holds what both tools answered."""
    for part in [expected] if isinstance(expected, str) else expected:
        if part not in str(found):
            raise AssertionError(f"{part!r} is not in {str(found)!r}")


def expect_answers(text):
    expect(text, [CITY, WEATHER])


def tell(name, outcome, detail=""):
    print(json.dumps({"name": name, "outcome": outcome, "detail": detail[:600]}), flush=True)


def tried(name, attempt):
    """Runs a function, or a coroutine, and tells how it went."""
    try:
        result = attempt()
        if asyncio.iscoroutine(result):
            asyncio.run(result)
        tell(name, "passed")
    except Exception as error:  # A program tries all of its list.
        lines = traceback.format_exception_only(error)
        tell(name, "failed", "".join(lines).strip())


def refused(name, attempt, words):
    """The library must raise an error that a person can read."""

    def run():
        try:
            result = attempt()
            if asyncio.iscoroutine(result):
                asyncio.run(result)
        except Exception as error:
            text, cause = str(error), error.__cause__ or error.__context__
            expect(f"{text} {cause}", words)
        else:
            raise AssertionError("The call was not refused.")

    tried(name, run)


def refusals(call_with, name):
    """`call_with(key)` makes a plain call with that key."""
    refused(f"{name}: shows the refusal: wrong key", lambda: call_with(WRONG_KEY), "API key")
    refused(f"{name}: shows the refusal: no credit", lambda: call_with(EMPTY_KEY), "is spendable")
