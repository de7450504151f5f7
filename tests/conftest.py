"""What every test shares: golden text, an isolated cache, deterministic properties, markers that need a device."""

from __future__ import annotations

import difflib
import gc
import importlib.util
import os
import shutil
import signal
import zlib
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"

settings.register_profile(
    "deterministic",
    derandomize=True,
    database=None,
    deadline=None,
    # A loaded machine is slow, which says nothing about a property.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden from what the tests produce")
    parser.addoption(
        "--optimised", choices=["all", "some", "none"], help="what is compiled as for users; without slow tests: none"
    )


def pytest_configure(config: pytest.Config) -> None:
    # A bare `pytest` must not fill the user's cache; `make test` chooses a folder of its own to run cold and warm.
    os.environ.setdefault("POLYVIZ_CACHE_DIR", str(TESTS.parent / ".pytest_cache" / "polyviz"))
    # A shell that starts the tests in the background makes them ignore Ctrl-C, which some of them are about.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Spinning OpenMP threads starve each other when several test workers share few cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # Who leaves out the slow tests waits for the others, and to optimise C that runs once takes longer than to run it.
    # The whole suite compiles some of the cases of a test as for users, and what has no cases.
    wanted = config.getoption("--optimised") or ("none" if "not slow" in config.option.markexpr else "some")
    haste.always, haste.never = wanted == "none", wanted == "all"
    if not haste.never:
        hardly_optimise()
    keep_what_is_built()


haste = SimpleNamespace(always=False, never=False, test=False)
"""Whose C is hardly optimised: that of all tests, of none, that of the test that runs (marker ``hardly_optimised``)."""


def keep_what_is_built() -> None:
    """All of it, for the warm run; a user's cache keeps what was used last."""
    from polyviz.runtime.cache import BuildCache

    BuildCache.__init__.__kwdefaults__["maximum_entries"] = 20_000


def hardly_optimise() -> None:
    """The level comes after the toolchain's own, and is part of the key under which a library is kept."""
    from polyviz.runtime.cache import BuildCache
    from polyviz.runtime.machine import this_machine

    library = BuildCache.library
    longest = this_machine().processor.vector_bytes

    def library_in_haste(*arguments: Any, extra_flags: tuple[str, ...] = (), **options: Any) -> Any:
        source, toolchain = arguments[1:3]
        # No user has vectors that the processor has to take apart, for which gcc needs ten times as long.
        if haste.always or haste.test or (longest < 64 and "vector_size(64)" in source):
            # The templates of the emulator run for moments; vectors and their constants need a little more.
            level = "-O0" if "-std=gnu++17" in toolchain.flags else "-O1"
            extra_flags = (*extra_flags, level)
        return library(*arguments, extra_flags=extra_flags, **options)

    BuildCache.library = library_in_haste


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Beside test_*.py everything here is data or a helper, and no doctest is looked for in it."""
    if collection_path.suffix == ".py" and not collection_path.name.startswith("test_"):
        return True
    return None


@cache
def missing_gpu() -> str:
    """Why tests marked ``gpu`` cannot run here; empty when they can."""
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    return "" if cupy.is_available() else "CuPy finds no CUDA device that it can use"


def missing_browser() -> str:
    """Why tests marked ``browser`` cannot run here; empty when they can."""
    return "" if shutil.which("chromium") else "no `chromium` on the PATH (apt-get install chromium)"


NEEDS: dict[str, Callable[[], str]] = {"gpu": missing_gpu, "browser": missing_browser}


# Before pytest chooses by marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # Where a test has several targets, numba's takes seconds to compile what takes C a tenth of that.
        if target_of(item) == "numba":
            item.add_marker(pytest.mark.slow)
    cases: Counter[tuple[Path, str]] = Counter()
    for item in items:
        thinned = item.get_closest_marker("thinned")
        if thinned:
            test = test_of(item)
            if cases[test] % thinned.args[0]:
                item.add_marker(pytest.mark.slow)
                item.add_marker(pytest.mark.hardly_optimised)
            cases[test] += 1
    leave_out_in_turn(items)
    wait_in_turn(items)
    optimise_in_turn(items)
    # The longest first: last, one of them would keep one worker busy for a minute after the others have ended.
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


def test_of(item: pytest.Item) -> tuple[Path, str]:
    """What the cases of one test have in common."""
    return item.path, item.name.partition("[")[0]


def target_of(item: pytest.Item) -> Any:
    """The target that a case is for, None where its test has no such parameter."""
    chosen = getattr(item, "callspec", None)
    return chosen.params.get("target") if chosen else None


def leave_out_in_turn(items: list[pytest.Item]) -> None:
    """Two of three slow cases are ``more`` where quick ones of the same test find the same faults: other values, or
    another target."""
    quick = {test_of(item) for item in items if item.get_closest_marker("slow") is None}
    for item in items:
        alike = item.get_closest_marker("thinned") or target_of(item) == "numba"
        if item.get_closest_marker("slow") and alike and test_of(item) in quick and zlib.crc32(item.name.encode()) % 3:
            item.add_marker(pytest.mark.more)


def wait_in_turn(items: list[pytest.Item]) -> None:
    """Of the cases of one test the quick run takes the first, for each target, and one in eight of the others."""
    for item in others_of_their_test(items):
        if zlib.crc32(item.name.encode()) % 8:
            item.add_marker(pytest.mark.slow)


def others_of_their_test(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases of tests that have several, without the first of each test and target.

    Who chooses among them goes by their names, and not by their place: a step through the cases would meet the same
    value of one parameter again and again.
    """
    met: set[tuple[Path, str, Any]] = set()
    for item in items:
        if not hasattr(item, "callspec"):
            continue
        cases = (*test_of(item), target_of(item))
        if cases in met:
            yield item
        met.add(cases)


def optimise_in_turn(items: list[pytest.Item]) -> None:
    """Of the cases of one test some compile as for users, for each target: the first, and one in four of the others."""
    for item in others_of_their_test(items):
        if zlib.crc32(item.name.encode()) % 4:
            item.add_marker(pytest.mark.hardly_optimised)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Asked of the tests that run: to look for a device is slow."""
    for marker, missing in NEEDS.items():
        if item.get_closest_marker(marker) and (reason := missing()):
            pytest.skip(reason)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A race starts with a full collection, which takes a second where thousands of tests have left what they share."""
    if nextitem is None or nextitem.path != item.path:
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call() -> None:
    """Tests share a worker process. It is replaced when the environment changes, where pytest puts each test's name."""
    os.environ.pop("PYTEST_CURRENT_TEST", None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if item.get_closest_marker("hardly_optimised") is None or haste.never:
        return (yield)
    from tests.running import quickly_compiled

    haste.test = True
    try:
        with quickly_compiled():
            return (yield)
    finally:
        haste.test = False


@pytest.fixture
def cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty build cache of this test's own; what the test compiles is seen by nobody else."""
    directory = tmp_path / "polyviz-cache"
    directory.mkdir()
    monkeypatch.setenv("POLYVIZ_CACHE_DIR", str(directory))
    return directory


def golden_path(item: pytest.Function, suffix: str) -> Path:
    """tests/golden/<test module>/<test name>[-<parameters>][.suffix].txt, the folders of tests/ kept."""
    module = item.path.relative_to(TESTS).with_suffix("")
    parameters = f"-{quote(item.callspec.id, safe=' +,=')}" if hasattr(item, "callspec") else ""
    return GOLDEN / module / f"{item.originalname}{parameters}{suffix and f'.{suffix}'}.txt"


@pytest.fixture
def one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans and texts are those for long vectors, whatever runs the tests."""
    from polyviz.model.processor import Processor
    from polyviz.runtime.machine import Machine

    mebibyte = 1024 * 1024
    monkeypatch.setattr(Machine, "processor", Processor(64, 32, 48 * 1024, 2 * mebibyte, 2, 480 * mebibyte))


@pytest.fixture
def golden(request: pytest.FixtureRequest, one_processor: None) -> Callable[..., None]:
    """Compares text with the file kept for this test: ``golden(text)``, or ``golden(text, "c")`` for one of several.

    The files were written for ``one_processor``.
    """

    def compare(text: str, suffix: str = "") -> None:
        path = golden_path(request.node, suffix)
        actual = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8")
            return
        name = path.relative_to(TESTS.parent)
        if not path.exists():
            pytest.fail(f"{name} is missing; run this test with --update-golden, then read the file.", pytrace=False)
        expected = path.read_text(encoding="utf-8")
        if actual != expected:
            difference = difflib.unified_diff(
                expected.splitlines(), actual.splitlines(), str(name), "this run", lineterm=""
            )
            hint = "If the new text is right, run this test with --update-golden."
            pytest.fail("\n".join([*difference, hint]), pytrace=False)

    return compare
