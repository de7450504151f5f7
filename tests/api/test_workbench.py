from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.api.menu import menu
from polyviz.api.workbench import EDITED, Workbench
from polyviz.errors import OptionError
from polyviz.views.schema import json_schema

SWEEP = """
def sweep(A, B):
    n = A.shape[0]
    for i in range(1, n):
        for j in range(1, n - 1):
            A[i, j] = A[i - 1, j + 1] + B[i, j]
"""
TWO = """
def two(A, B, C):
    n = A.shape[0]
    for i in range(n):
        B[i] = A[i]
    for i in range(n):
        C[i] = B[i]
"""


@pytest.fixture
def bench():
    return Workbench(pv.inspect(SWEEP, schedules=("original",)))


def settled(choices):
    """The moves of a menu as they are in the end."""
    return list({choice["place"]: choice for choice in choices}.values())


def labels(choices, *, legal):
    return {choice["label"] for choice in choices if choice["legal"] is legal}


def test_legal_moves_and_others_with_their_pair(bench):
    choices = settled(bench.choices("original", "i"))
    assert {"Skew by i", "Tile by 4", "Unroll"} <= labels(bench.choices("original", "j"), legal=True)
    assert {"Parallel", "Interchange to j, i", "Tile by 4 × 4"} <= labels(choices, legal=False)
    [interchange] = [choice for choice in choices if choice["label"] == "Interchange to j, i"]
    assert interchange["violation"]["source_instance"] == [1, 2]
    assert interchange["violation"]["sink_instance"] == [2, 1]
    assert "A[1, 2]" in interchange["reason"]


def test_a_legal_move_is_in_the_history_the_tree_and_the_script(bench):
    bench.apply("original", "skew", "j", {"by": "i", "factor": 1})
    bench.apply(EDITED, "tile", "i", {"sizes": [4, 4]})
    model = bench.model()
    jsonschema.validate(model, json_schema("inspector"))
    assert [one["name"] for one in model["variants"]] == ["original", EDITED]
    assert [step["text"] for step in model["edit"]["steps"]] == [
        'skew(at="j", by="i", factor=1)',
        'tile(at="i", sizes=(4, 4))',
    ]
    again = {"pv": pv}
    exec(model["edit"]["python"], again)
    assert again["schedule"].map.is_equal(bench.schedule(EDITED).map)


def test_a_legal_move_says_when_each_drawn_instance_would_run(bench):
    [skew] = [one for one in settled(bench.choices("original", "j")) if one["label"] == "Skew by i"]
    points = bench.model()["statements"][0]["points"]
    assert skew["after"]["times"]["S0"] == [[i, i + j] for i, j in points]
    assert [member["time"] for member in members(skew["after"]["tree"])] == [0, 1]
    assert all(one["after"] is None for one in bench.choices("original", "i") if not one["legal"])


def members(node):
    yield from node["members"]
    for child in node["children"]:
        yield from members(child)


def test_moves_made_in_the_view_are_found_from_python(bench):
    inspector = bench.inspector
    assert inspector.edit is None
    assert inspector.schedule is None
    bench.apply("original", "skew", "j", {"by": "i", "factor": 1})
    assert inspector.edit.history == ('skew(at="j", by="i", factor=1)',)
    assert inspector.schedule.map.is_equal(bench.schedule(EDITED).map)
    assert pv.check(inspector.scop, inspector.schedule)
    assert [one["name"] for one in Workbench(inspector).model()["variants"]] == ["original", EDITED]


def test_moves_of_an_earlier_kernel_are_made_again(bench):
    bench.apply("original", "skew", "j", {"by": "i", "factor": 1})
    bench.apply(EDITED, "strip-mine", "j", {"size": 4})
    script = bench.edit.script()
    later = Workbench(pv.inspect(SWEEP, schedules=("original",)))
    later.replay(script, 1)
    assert later.edit.history == bench.edit.history[:1]
    later.go_to(2)
    assert later.edit.script() == script


def test_moves_that_cannot_be_made_again_are_kept_as_a_script(bench):
    script = 'schedule("original")\nstrip_mine(at="i", size=4)\nfly(at="j")'
    with pytest.raises(pv.OptionError, match="Line 3"):
        bench.replay(script, 0)
    assert bench.edit is None
    lost = bench.model()["lost"]
    assert lost["script"] == script
    assert lost["problem"].startswith("Line 3 of the script: ")
    bench.replay(script.rpartition("\n")[0], 0)
    assert bench.model()["lost"] is None


def test_arrays_have_the_elements_of_the_arguments():
    inspector = pv.inspect(SWEEP, np.zeros((8, 8), np.float32), np.zeros((8, 8)), schedules=("original",))
    arrays = Workbench(inspector).model()["arrays"]
    assert [(one["name"], one["extents"], one["element_bytes"]) for one in arrays] == [
        ("A", [8, 8], 4),
        ("B", [8, 7], 8),
    ]


def test_programs_and_sizes_are_those_of_the_arguments():
    total = (
        "def total(A, B):\n    for i in range(A.shape[0]):\n        t = np.float32(0)\n"
        "        for j in range(A.shape[1]):\n            t += A[i, j]\n        B[i] = t"
    )
    arguments = np.zeros((40, 30), np.float32), np.zeros(40, np.float32)
    inspector = pv.inspect(total, *arguments, schedules=("original",))
    model = Workbench(inspector).model()
    assert "np.float64" not in model["variants"][0]["program"]["text"]
    assert [one["given"] for one in model["parameters"]] == [40, 30]


def test_a_superposed_schedule_carries_both_orders():
    model = Workbench(pv.inspect(TWO, schedules=("superposition",))).model()
    jsonschema.validate(model, json_schema("inspector"))
    [variant] = model["variants"]
    assert [one["statement"] for one in variant["superposition"]["functions"]] == ["S0", "S1"]


def test_an_illegal_move_changes_nothing(bench):
    with pytest.raises(pv.LegalityError):
        bench.apply("original", "interchange", None, {"order": ["j", "i"]})
    assert bench.model()["edit"] is None


def test_undo_and_redo_to_a_position(bench):
    bench.apply("original", "skew", "j", {"by": "i", "factor": 1})
    bench.apply(EDITED, "unroll", "j", {"factor": 4})
    bench.go_to(0)
    edit = bench.model()["edit"]
    assert (len(edit["steps"]), edit["undone"]) == (2, 2)
    assert bench.schedule(EDITED).map.is_equal(bench.schedule("original").map)
    bench.go_to(2)
    assert bench.model()["edit"]["undone"] == 0
    with pytest.raises(OptionError):
        bench.go_to(3)


def test_a_move_on_another_schedule_begins_a_new_history(bench):
    bench.apply("original", "unroll", "j", {"factor": 4})
    bench.add("isl")
    address = bench.model()["variants"][1]["tree"]["children"][0]["members"][1]["address"]
    bench.apply("isl", "unroll", address, {"factor": 2})
    edit = bench.model()["edit"]
    assert edit["start"] == "isl"
    assert len(edit["steps"]) == 1


def test_an_automatic_schedule_as_moves():
    bench = Workbench(pv.inspect(SWEEP, schedules=("isl",)))
    bench.as_moves("isl")
    edit = bench.model()["edit"]
    assert edit["start"] == "original"
    assert edit["steps"]
    assert bench.schedule(EDITED).map.is_equal(bench.schedule("isl").map)


def test_loops_side_by_side_are_fused_and_reordered():
    bench = Workbench(pv.inspect(TWO, schedules=("original",)))
    choices = settled(bench.choices("original", "S0.i"))
    assert "Fuse S0, S1" in labels(choices, legal=True)
    assert "Reorder to S1, S0" in labels(choices, legal=False)


def test_other_sizes_and_wrong_ones(bench):
    bench.draw_for({"n": 5})
    assert len(bench.model()["statements"][0]["points"]) == 4 * 3
    with pytest.raises(OptionError, match="no size `m`"):
        bench.draw_for({"m": 5})


def test_unknown_schedules_and_places(bench):
    with pytest.raises(OptionError, match="No schedule is shown as `pluto`"):
        bench.choices("pluto", "i")
    with pytest.raises(OptionError, match="no loop `k`"):
        list(bench.choices("original", "k"))
    with pytest.raises(OptionError, match="nothing to undo"):
        bench.go_to(1)


def test_a_saved_file_holds_the_model(bench, tmp_path):
    bench.save(tmp_path / "sweep.polyviz.json")
    assert json.loads((tmp_path / "sweep.polyviz.json").read_text("utf-8")) == bench.model()


def test_effects_tell_how_many_loops_are_parallel():
    edit = pv.edit(SWEEP, "original").apply("skew", "j", by="i", factor=1)
    [tile] = [choice for choice in settled(menu(edit, "i")) if choice["label"] == "Tile by 4 × 4"]
    assert tile["effect"] == "loops: 2 → 4, parallel: 1 → 2"


def test_the_history_says_which_loop_is_meant(bench):
    bench.apply("original", "parallel", "j", {})
    [step] = bench.model()["edit"]["steps"]
    assert step["decision"] == "Loop j runs in parallel threads (line 5)."


def test_of_loops_with_one_name_the_history_names_the_line():
    bench = Workbench(pv.inspect(TWO, schedules=("original",)))
    bench.apply("original", "parallel", "S1.i", {})
    [step] = bench.model()["edit"]["steps"]
    assert step["decision"] == "Loop i runs in parallel threads (line 6)."


def test_the_history_names_the_lines_of_loops_that_change_places(bench):
    bench.apply("original", "skew", "j", {"by": "i", "factor": 1})
    bench.apply("by hand", "interchange", None, {"order": ("j", "i")})
    assert bench.model()["edit"]["steps"][-1]["decision"].endswith("(lines 4, 5).")


def test_moves_that_would_pass_through_an_illegal_order_are_made_at_once():
    bench = Workbench(pv.inspect(gallery.kernel("doitgen").function, schedules=("feautrier",)))
    bench.as_moves("feautrier")
    assert bench.edit.done[-1].name == "rows"
    assert bench.edit.schedule.map.is_equal(bench.schedules["feautrier"].map)
    assert "leads through an illegal order: S" in bench.model()["edit"]["steps"][-1]["decision"]
    bench.go_to(len(bench.edit.done) - 1)
    assert pv.check(bench.inspector.scop, bench.edit.schedule)


def test_the_moves_and_their_legality_come_before_their_effects(bench):
    first = list(bench.choices("original", "j"))
    names = [choice for choice in first if choice["effect"] is None or not choice["legal"]]
    effects = first[len(names) :]
    assert first[: len(names)] == names
    assert [choice["place"] for choice in names] == list(range(len(names)))
    assert {choice["place"] for choice in effects} == {one["place"] for one in names if one["legal"]}
    assert all(choice["effect"] is not None and choice["after"] for choice in effects)
    assert list(bench.choices("original", "j")) == settled(first)


def test_a_menu_is_looked_for_again_where_the_order_or_the_drawing_is_another(bench):
    before = settled(bench.choices("original", "j"))
    bench.apply("original", "skew", "j", {"by": "i"})
    skewed = settled(bench.choices(EDITED, "j"))
    bench.apply(EDITED, "tile", "i", {"sizes": [4, 4]})
    assert "j_tile" in bench.edit.loops
    assert settled(bench.choices(EDITED, "j")) != skewed
    bench.draw_for({one["name"]: 5 for one in bench.model()["parameters"]})
    bench.model()
    drawn = settled(bench.choices("original", "j"))
    assert [one["label"] for one in drawn] == [one["label"] for one in before]
    assert [one["after"] for one in drawn] != [one["after"] for one in before]


def test_the_program_shown_has_the_order_of_the_tree_and_the_rest_is_told():
    bench = Workbench(pv.inspect(SWEEP, schedules=("pluto",)))
    [pluto] = [one for one in bench.model()["variants"] if one["name"] == "pluto"]
    assert "for wave in" in pluto["program"]["text"]
    assert pluto["mapping"] is None
    bench.explain("pluto")
    [pluto] = [one for one in bench.model()["variants"] if one["name"] == "pluto"]
    assert pluto["mapping"]["target"] == "c"
    assert "strip" in [one["step"] for one in pluto["mapping"]["decisions"]]
