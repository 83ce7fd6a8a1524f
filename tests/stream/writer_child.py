"""Writes a log from a process of its own until somebody else asks it to stop."""

from __future__ import annotations

import asyncio
import sys

from opora.domain.stream import ResponseType, StreamEvent
from opora.stream.redis import RedisStreamLog


async def main(url: str, prefix: str, pieces: int) -> None:
    log = RedisStreamLog.at(url, owner="other", prefix=prefix)
    await log.append("s", "m", StreamEvent(response_type=ResponseType.AGENT_QUERY))
    print("begun", flush=True)
    for number in range(pieces):
        await log.append("s", "m", StreamEvent(response_type=ResponseType.ANSWER, content=f"{number} "))
    await log.stop_requested("s", "m")
    await log.append("s", "m", StreamEvent(response_type=ResponseType.COMPLETE))
    await log.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
