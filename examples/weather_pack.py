"""Weather: current temperature of a few cities."""

from pydantic import BaseModel

from catalog import ToolProblem, tool

DEGREES = {"Oslo": 4.0, "Rome": 19.0, "Lima": 22.5}


class Weather(BaseModel, frozen=True):
    city: str
    degrees: float


@tool(effect="pure")
async def cities() -> list[str]:
    """List the cities whose weather is known."""
    return sorted(DEGREES)


@tool(reads=["weather:{city}"], effect="external")
async def now(city: str, *, fahrenheit: bool = False) -> Weather:
    """Say how warm it is in a city now.

    Args:
        city: one of cities()
        fahrenheit: give degrees Fahrenheit instead of Celsius
    """
    if city not in DEGREES:
        raise ToolProblem("unknown_city", f"no weather for {city}", hint=f"known: {', '.join(sorted(DEGREES))}")
    degrees = DEGREES[city]
    return Weather(city=city, degrees=degrees * 9 / 5 + 32 if fahrenheit else degrees)
