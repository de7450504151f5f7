from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from anywidget._util import enable_custom_widget_manager_once
from IPython.core.formatters import DisplayFormatter

import polyviz as pv
from polyviz.api.shown import inspector_bundle
from polyviz.api.workbench import Workbench
from polyviz.errors import ToolchainError
from polyviz.model import display
from polyviz.notebook import live, timing, widget
from polyviz.notebook.timing import Timing
from polyviz.runtime.worker import CancelledError
from polyviz.views.schema import MIME
from tests.views.samples import comparison

COPY = "def copy(A, B):\n    for i in range(A.shape[0]):\n        A[i] = B[i]\n"
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A front end that need not be built for these tests."""
    path = tmp_path / "widget.js"
    path.write_text("export default {}")
    monkeypatch.setattr(widget, "widget_script", lambda: path)
    monkeypatch.setattr(live, "widget_script", lambda: path)


@pytest.fixture
def shown(script, monkeypatch):
    made = widget.InspectorWidget(pv.inspect(COPY, schedules=("original",)))
    made.sent = []
    monkeypatch.setattr(made, "send", lambda content, **_: made.sent.append(content))
    return made


async def until(condition):
    """Let the loop go on until something holds, however busy the machine is."""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)


def answers(shown):
    return [one["answer"] for one in shown.sent]


def ask(shown, **question):
    shown._asked(None, question, [])
    return shown.sent[-1]


def test_questions_change_the_model(shown):
    assert ask(shown, ask="values", values={"A_shape_0": 3})["problem"] == ""
    assert len(shown.model["statements"][0]["points"]) == 3
    assert ask(shown, ask="schedule", name="isl")["show"] == "isl"
    assert [one["name"] for one in shown.model["variants"]] == ["original", "isl"]
    before = len(shown.sent)
    assert ask(shown, ask="choices", variant="original", address="i", number=7)["answer"] == "choices"
    *offers, _ = shown.sent[before:]
    assert {(one["answer"], one["number"]) for one in offers} == {("choice", 7)}
    assert any(one["choice"]["move"] == "reversal" and one["choice"]["legal"] for one in offers)
    assert json.dumps(offers)
    ask(shown, ask="apply", variant="original", at="i", move="reversal", arguments={})
    assert shown.model["edit"]["steps"][0]["text"] == 'reversal(at="i")'
    ask(shown, ask="history", position=0)
    assert shown.model["edit"]["undone"] == 1


def test_two_views_of_one_inspector_stay_the_same(script):
    inspector = pv.inspect(COPY, schedules=("original",))
    first, second, other = (
        widget.InspectorWidget(one) for one in (inspector, inspector, pv.inspect(COPY, schedules=("original",)))
    )
    ask_quietly(first, ask="schedule", name="isl")
    ask_quietly(first, ask="apply", variant="original", at="i", move="reversal", arguments={})
    assert [one["name"] for one in second.model["variants"]] == ["original", "isl", "by hand"]
    assert (first.shown, second.shown) == ("by hand", "")
    ask_quietly(second, ask="history", position=0)
    assert first.model["edit"]["undone"] == 1
    assert other.model["edit"] is None


def ask_quietly(shown, **question):
    shown._asked(None, question, [])


def test_moves_of_a_kernel_that_is_gone_are_made_again_or_shown_as_a_script(shown):
    good = 'schedule("original")\nreversal(at="i")'
    told = ask(shown, ask="replay", schedules=[], script=good, undone=0)
    assert (told["show"], told["said"]) == ("by hand", "Made again in this kernel: 1 move by hand.")
    told = ask(shown, ask="replay", schedules=[], script='schedule("original")\nreversal(at="k")', undone=0)
    assert told["problem"].startswith("The moves made by hand before are not here: Line 2 of the script: ")
    assert shown.model["lost"]["script"].endswith('reversal(at="k")')
    assert shown.model["edit"]["steps"][0]["text"] == 'reversal(at="i")'


def test_schedules_added_in_a_kernel_that_is_gone_are_added_again(shown):
    told = ask(shown, ask="replay", schedules=["original", "isl", "mine"], script="", undone=0)
    assert told["said"] == "Made again in this kernel: isl."
    assert [one["name"] for one in shown.model["variants"]] == ["original", "isl"]
    assert "said" not in ask(shown, ask="replay", schedules=["original", "isl"], script="", undone=0)


def test_a_new_schedule_comes_with_the_order_to_show_it(shown, monkeypatch):
    sent = []
    monkeypatch.setattr(shown, "send_state", lambda key=None: sent.append(set(key)))
    ask(shown, ask="schedule", name="isl")
    assert shown.shown == "isl"
    assert sent == [{"model", "shown"}]


def test_a_saved_page_brings_the_model_only_where_it_has_more_to_say(shown):
    assert shown._page()["model"]["variants"][0]["reasons"] is not None
    ask(shown, ask="why", variant="original")
    assert "model" not in shown._page()


def test_a_device_is_asked_for_its_kernels(shown):
    assert shown.model["variants"][0]["device"] is None
    assert ask(shown, ask="device", variant="original")["problem"] == ""
    assert shown.model["variants"][0]["device"]["kernels"][0]["block"]


def test_the_machine_is_measured_beside_the_kernel(shown, monkeypatch):
    monkeypatch.setattr(Timing, "measure", lambda _, finish: finish(""))
    assert ask(shown, ask="measure") == {"answer": "measure", "problem": "", "show": ""}


def test_a_measurement_ends_with_figures_or_a_reason(monkeypatch):
    kept, told = [], []

    class Machine:
        closed = False

        def run(self, job, **_):
            if job == "polyviz.runtime.peaks:measure_peaks" and not told:
                return "figures"
            raise ToolchainError("Nothing can be measured.", hint="Get a compiler.")

        def close(self):
            pass

    monkeypatch.setattr(timing, "Worker", Machine)
    monkeypatch.setattr(timing, "keep_peaks", kept.append)
    measuring = Timing(pv.inspect(COPY, schedules=("original",)), print, print)
    measuring.measure(told.append).join()
    measuring.measure(told.append).join()
    assert (kept, told) == (["figures"], ["", "Nothing can be measured. Get a compiler."])


def finish_at_once(timing, doing, work, finish):
    """Stands for the thread beside the notebook."""
    try:
        work(None)
    except ToolchainError as error:
        finish(error.message)
    else:
        finish("")
    return object()


def test_kernels_run_in_the_emulator_beside_the_notebook(shown, monkeypatch):
    monkeypatch.setattr(Timing, "beside", finish_at_once)
    run = []
    monkeypatch.setattr(Workbench, "emulate", lambda _, name, worker: run.append(name))
    shown._asked(None, {"ask": "emulate", "variant": "original"}, [])
    page, answer = shown.sent
    assert run == ["original"]
    assert answer == {"answer": "emulate", "problem": "", "show": ""}
    assert page["answer"] == "page"
    assert page["html"].startswith("<")
    assert page["text"].startswith("copy")


def test_an_emulated_run_that_fails_is_a_sentence_and_the_page_stays(shown, monkeypatch):
    monkeypatch.setattr(Timing, "beside", finish_at_once)

    def fail(*_):
        raise ToolchainError("No C++ compiler was found.")

    monkeypatch.setattr(Workbench, "emulate", fail)
    shown._asked(None, {"ask": "emulate", "variant": "original"}, [])
    assert shown.sent == [{"answer": "emulate", "problem": "No C++ compiler was found.", "show": ""}]


def test_only_one_thing_runs_beside_the_notebook(shown, monkeypatch):
    monkeypatch.setattr(Timing, "beside", lambda *_: None)
    assert "Something else is running" in ask(shown, ask="emulate", variant="original")["problem"]


def test_what_runs_beside_the_notebook_tells_so_and_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(timing, "_TICK", 0.01)
    told, ends, going = [], [], threading.Event()

    def report(doing):
        told.append(doing)
        going.set()

    def work(worker):
        assert going.wait(120)
        beside.cancel()
        raise CancelledError("The job was cancelled.")

    beside = Timing(pv.inspect(COPY, schedules=("original",)), report, print)
    thread = beside.beside("counting", work, ends.append)
    assert beside.beside("counting", work, ends.append) is None
    thread.join(120)
    assert ends == ["Cancelled."]
    assert told[0] == "counting (0 s)"
    assert beside.beside("again", lambda _: None, ends.append) is not None


@pytest.mark.parametrize(
    "question",
    [
        {"ask": "schedule", "name": "nobody"},
        {"ask": "values", "values": {"n": 3}},
        {"ask": "values", "values": {"A_shape_0": "many"}},
        {"ask": "values"},
        {"ask": "values", "values": [3]},
        {"ask": "choices", "variant": "original", "address": "k", "number": 1},
        {"ask": "apply", "variant": "original", "at": "i", "move": "fly", "arguments": {}},
        {"ask": "history", "position": 4},
        {"ask": "device", "variant": "nobody"},
        {"ask": "emulate", "variant": "nobody"},
    ],
)
def test_what_cannot_be_answered_is_a_sentence(shown, question):
    before = shown.model
    assert ask(shown, **question)["problem"]
    assert shown.model == before


def test_messages_of_another_kind_are_ignored(shown):
    for message in (None, {}, {"ask": "launch"}, {"ask": ["values"]}):
        shown._asked(None, message, [])
    assert shown.sent == []


def test_timing_shows_its_table_or_the_reason(shown):
    found = comparison()
    shown._report("verifying (1 of 3)")
    shown._timed(SimpleNamespace(data=found), "")
    assert [row["label"] for row in shown.model["comparison"]["rows"]] == [row.label for row in found.rows]
    shown._timed(None, "Cancelled.")
    assert [one["answer"] for one in shown.sent] == ["progress", "run", "run"]
    assert shown.sent[-1]["problem"] == "Cancelled."
    assert not shown.can_run


@pytest.mark.slow
def test_a_run_in_the_background_ends_and_can_be_cancelled():
    inspector = pv.inspect(COPY, np.zeros(8), np.ones(8), schedules=("original",))
    ends = []
    timing = Timing(inspector, lambda _: None, lambda *end: ends.append(end))
    thread = timing.start(inspector.schedules)
    assert timing.start(inspector.schedules) is None
    thread.join(60)
    [(found, problem)] = ends
    assert problem == ""
    assert all(row.verified for row in found.rows if not row.is_baseline)
    timing.report = lambda _: timing.cancel()
    timing.start(inspector.schedules).join(60)
    assert ends[-1] == (None, "Cancelled.")


def test_a_kernel_gets_the_widget_and_the_static_forms(script):
    inspector = pv.inspect(COPY, schedules=("original",))
    forms = live.live_bundle(inspector)
    # VS Code takes the first type of a vendor that it can show.
    assert list(forms) == [VIEW, MIME, "text/html", "text/plain"]
    assert forms[MIME]["kind"] == "inspector"
    assert "<script" not in forms["text/html"]


@pytest.fixture
def colab(monkeypatch):
    """What anywidget knows Google Colab by; ``enabled`` counts how often widgets of others were allowed."""
    enabled = []
    address = SimpleNamespace(_installed_url="https://example.org/manager.js")
    output = SimpleNamespace(enable_custom_widget_manager=lambda: enabled.append(1), _widgets=address)
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    enable_custom_widget_manager_once.cache_clear()
    yield enabled
    enable_custom_widget_manager_once.cache_clear()


def test_colab_is_told_where_the_code_of_the_widget_is(script, colab, monkeypatch):
    monkeypatch.setitem(display._renderers, pv.Inspector, live.live_bundle)
    monkeypatch.setattr(display, "_has_front_end", lambda: True)
    inspector = pv.inspect(COPY, schedules=("original",))
    forms, metadata = inspector._repr_mimebundle_()
    assert set(forms) == {VIEW, MIME, "text/html", "text/plain"}
    assert metadata[VIEW]["colab"]["custom_widget_manager"]["url"] == "https://example.org/manager.js"
    assert colab == [1]
    formatter = DisplayFormatter()
    data, sent = formatter.format(inspector)
    assert VIEW in data
    assert sent == metadata
    assert repr(inspector).startswith("copy")


def test_without_the_front_end_everything_is_static_and_says_how_to_change_that(monkeypatch):
    monkeypatch.setattr(live, "widget_script", lambda: None)
    inspector = pv.inspect(COPY, schedules=("original",))
    forms = live.live_bundle(inspector)
    assert VIEW not in forms
    assert forms[MIME] == inspector_bundle(inspector)[MIME]
    assert "make labextension" in forms["text/html"]


def test_only_a_kernel_makes_views_live(monkeypatch):
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert not display._has_front_end()
    shell.kernel = object()
    assert display._has_front_end()


@pytest.mark.slow
def test_an_exported_page_shows_the_static_pictures(script):
    import nbformat
    from nbconvert import HTMLExporter

    forms = live.live_bundle(pv.inspect(COPY, schedules=("original",)))
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", forms)])
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert 'alt="Iteration domain of S0 over i' in page
    assert "data:image/svg+xml" in page
    assert forms[VIEW]["model_id"] not in page


@pytest.mark.parametrize(("metadata", "is_live"), [({}, False), ({"cellId": "a"}, True)])
def test_where_nobody_watches_there_is_no_widget(script, monkeypatch, metadata, is_live):
    for name in [one for one in os.environ if one.startswith("VSCODE_")]:
        monkeypatch.delenv(name)
    request = {"msg_type": "execute_request", "metadata": metadata}
    shell = SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda _: request))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    forms = live.live_bundle(pv.inspect(COPY, schedules=("original",)))
    assert (VIEW in forms) is is_live
    assert "data:image/svg+xml" in forms["text/html"]


def test_the_saved_page_follows_once_nobody_asks_any_more(shown, monkeypatch):
    monkeypatch.setattr(widget, "PAGE_AFTER", 0.01)

    async def work():
        ask(shown, ask="apply", variant="original", at="i", move="reversal", arguments={})
        ask(shown, ask="history", position=1)
        assert answers(shown) == ["apply", "history"]
        await until(lambda: "page" in answers(shown))

    asyncio.run(work())
    assert answers(shown) == ["apply", "history", "page"]
    assert "reversal" in shown.sent[-1]["html"]


def test_effects_of_moves_stand_back_for_a_question(shown):
    async def work():
        ask(shown, ask="choices", variant="original", address="i", number=1)
        assert {one["answer"] for one in shown.sent} == {"choice"}
        listed = len(shown.sent)
        ask(shown, ask="choices", variant="original", address="i", number=2)
        await until(lambda: "choices" in answers(shown))
        return listed

    listed = asyncio.run(work())
    assert {one["number"] for one in shown.sent[:listed]} == {1}
    assert {one["number"] for one in shown.sent[listed:]} == {2}
    assert [one["answer"] for one in shown.sent if one["answer"] != "choice"] == ["choices"]
    legal = [one["choice"] for one in shown.sent[listed:-1] if one["choice"]["legal"]]
    assert {one["place"] for one in legal} == {one["place"] for one in legal if one["effect"] is not None}


@pytest.mark.slow
def test_the_saved_page_waits_for_what_others_ask_of_the_kernel(script, shown, monkeypatch):
    other = widget.InspectorWidget(shown.workbench.inspector)
    shell = SimpleNamespace(events=SimpleNamespace(register=lambda name, act: cells.update({name: act})))
    cells = {}
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    widget.IDLENESS.listen()
    assert list(cells) == ["pre_run_cell", "post_run_cell"]
    monkeypatch.setattr(widget, "PAGE_AFTER", 0.2)

    async def work(disturb):
        del shown.sent[:]
        ask(shown, ask="apply", variant="original", at="i", move="reversal", arguments={})
        for _ in range(8):
            await asyncio.sleep(0.05)
            disturb()
            assert "page" not in answers(shown)
        await until(lambda: "page" in answers(shown))

    for disturb in (cells["post_run_cell"], lambda: other._asked(None, {"ask": "cancel"}, [])):
        asyncio.run(work(disturb))


@pytest.mark.slow
def test_the_saved_page_waits_while_somebody_asks(shown, monkeypatch):
    monkeypatch.setattr(widget, "PAGE_AFTER", 3600.0)

    async def work():
        ask(shown, ask="apply", variant="original", at="i", move="reversal", arguments={})
        for _ in range(4):
            await asyncio.sleep(0.01)
            due = shown._page_due
            ask(shown, ask="cancel")
            await asyncio.wait([due])
            assert due.cancelled()
        assert "page" not in answers(shown)
        monkeypatch.setattr(widget, "PAGE_AFTER", 0.01)
        ask(shown, ask="cancel")
        await until(lambda: "page" in answers(shown))

    asyncio.run(work())
    assert answers(shown).count("page") == 1
