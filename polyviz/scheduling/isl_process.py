"""The scheduler of isl in a process of its own, which can be stopped; run as a script it is that process.

Nothing else of polyviz is imported here: the process has to start quickly. It also ends by itself at the time limit, so
that it does not go on when the process that waits for it is killed.
"""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys

import islpy as isl


def schedule_within(
    constraints: isl.ScheduleConstraints, options: dict[str, int], seconds: float
) -> isl.Schedule | None:
    """What isl computes for ``constraints``; None when it takes longer than ``seconds``, or fails.

    ``options`` are settings of the context by name, without ``set_``.

    >>> constraints = isl.ScheduleConstraints.on_domain(isl.UnionSet("{ S[i] : 0 <= i < 9 }"))
    >>> print(schedule_within(constraints, {"schedule_serialize_sccs": 1}, 60.0).get_map())
    { S[i] -> [i] }
    """
    request = json.dumps({"constraints": str(constraints), "options": options, "seconds": seconds})
    try:
        answer = subprocess.run(
            [sys.executable, __file__],
            input=request,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    return isl.Schedule(answer.stdout)


def apply_options(context: isl.Context, options: dict[str, int]) -> dict[str, int]:
    """Set ``options`` on ``context`` and return what they were before."""
    before = {name: getattr(context, f"get_{name}")() for name in options}
    for name, value in options.items():
        getattr(context, f"set_{name}")(value)
    return before


def _serve() -> None:
    request = json.loads(sys.stdin.read())
    _end_after(request["seconds"])
    apply_options(isl.DEFAULT_CONTEXT, request["options"])
    constraints = isl.ScheduleConstraints.read_from_str(isl.DEFAULT_CONTEXT, request["constraints"])
    sys.stdout.write(str(constraints.compute_schedule()))


def _end_after(seconds: float) -> None:
    """End this process after ``seconds``, even while isl computes and no Python code can run."""
    # The watchdog of faulthandler is a thread outside Python, on every platform; it keeps the file open.
    silent = open(os.devnull, "w")  # noqa: SIM115
    faulthandler.dump_traceback_later(seconds, exit=True, file=silent)


if __name__ == "__main__":
    _serve()
