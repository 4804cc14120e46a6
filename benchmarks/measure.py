"""Time and peak memory of calls, each in a forked child so that they do not disturb each other."""

import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    """Median seconds and largest extra memory (MiB) of a call, and its result."""

    seconds: float
    memory: float
    result: Any


def interleaved(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, Cost]:
    """Run the calls in turns and take medians: what disturbs one of them, disturbs all."""
    samples: dict[str, list[Cost]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            samples[name].append(_in_child(call))
    return {
        name: Cost(
            statistics.median(cost.seconds for cost in costs),
            max(cost.memory for cost in costs),
            costs[-1].result,
        )
        for name, costs in samples.items()
    }


def _in_child(call: Callable[[], Any]) -> Cost:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_measured, args=(call, sender))
    child.start()
    sender.close()
    try:
        cost: Cost = receiver.recv()
    except EOFError:
        raise RuntimeError("a measured call died, most likely for want of memory") from None
    child.join()
    return cost


def _measured(call: Callable[[], Any], sender: Any) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    sender.send(Cost(seconds, memory, result))
