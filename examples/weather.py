"""Give a script the pack of weather_pack.py, and read what it shows."""

import anyio
import weather_pack

from harness import run_script

SCRIPT = """
const cities = await tools.weather.cities();
const all = await Promise.all(cities.map(city => tools.weather.now({ city })));
show(all.filter(place => place.degrees > 10));
try { await tools.weather.now("Atlantis") } catch (e) { console.log(`${e.name}: ${e.message}; ${e.hint}`) }
return all.sort((a, b) => b.degrees - a.degrees)[0].city;
"""


async def main() -> None:
    outcome = await run_script(SCRIPT, packs=[weather_pack])
    print("shown:  ", outcome.shown)
    print("printed:", outcome.printed)
    print("value:  ", outcome.value)


anyio.run(main)
