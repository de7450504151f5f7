"""The whole way from a benchmark function to what is shown of it."""

from __future__ import annotations

import jsonschema
import pytest

from polyviz.analysis import dependences, parallelism
from polyviz.frontend import extract
from polyviz.gallery import polybench
from polyviz.views import bundles
from polyviz.views.bundles import Section, combine
from polyviz.views.fit import LIMIT, size
from polyviz.views.schema import MIME, json_schema
from tests.views.markup import assert_static, pictures_in


@pytest.mark.slow
@pytest.mark.parametrize("entry", polybench(), ids=lambda entry: entry.name)
def test_everything_is_shown(entry):
    part = extract(entry.function)
    found = dependences(part)
    shown = combine(
        entry.name,
        [
            Section("Part", bundles.scop_bundle(part, found), open=True),
            Section("Dependences", bundles.dependences_bundle(found, part, drawn=False)),
            Section("Loops", bundles.parallelism_bundle(parallelism(part, found, part.schedule))),
        ],
    )
    jsonschema.validate(shown[MIME], json_schema("combined"))
    assert size(shown[MIME]) < LIMIT
    assert shown[MIME]["shortened"] == []
    assert_static(shown["text/html"])
    looped = [statement for statement in part.statements if statement.iterators]
    assert len(pictures_in(shown["text/html"])) >= min(len(looped), 24)
    for statement in part.statements:
        assert f"  {statement.name}:" in shown["text/plain"]
