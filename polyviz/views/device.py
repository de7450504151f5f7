"""A part on a device: cards of its kernels, who runs which iteration, and the trees of the two levels side by side."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from polyviz.model.warp_access import WARP
from polyviz.model.words import plural, waiting
from polyviz.views import device_picture
from polyviz.views.html import details, heading, image, items, paragraph, table
from polyviz.views.nodes import read_tree
from polyviz.views.transfers import size_text
from polyviz.views.tree import tree_html, tree_text

if TYPE_CHECKING:
    from polyviz.model.device_program import Promotion
    from polyviz.model.device_view import DeviceView, LevelTrees, ThreadPicture
    from polyviz.model.kernel_card import AccessRow, KernelCard
    from polyviz.views.device_schema import (
        DeviceAccessModel,
        DeviceRunModel,
        KernelCardModel,
        ResourceModel,
        SharedLoopModel,
        ThreadPictureModel,
    )
    from polyviz.views.nodes import Node

_ACCESSES = (
    "statement",
    "access",
    "",
    "memory",
    "neighbour along x",
    "stride",
    "transactions per request",
    "counted",
)
_RESOURCES = "What the compiler reports without a device; occupancy is estimated"
_COUNTED = "Counted in the emulator"
_BLOCKS, _THREADS = "order of the blocks", "order inside a block"


def device_text(view: DeviceView) -> str:
    """Everything as text."""
    lines = [f"{view.name}: schedule {view.scheduler} on blocks and threads"]
    lines += [f"{_COUNTED}: {view.run.text}."] if view.run is not None else []
    lines += [card.text() for card in view.cards]
    lines.append("Who runs what:")
    for picture in view.pictures:
        lines.append(f"  {device_picture.title(picture)}")
        lines += [f"    {sentence}" for sentence in device_picture.sentences(picture)]
    lines.append(_trees_text(view.trees))
    if view.compiler:
        lines.append(f"{_RESOURCES} ({view.compiler}):")
        lines += [f"  {row.text}" for row in view.resources]
    return "\n".join(lines)


def summary_lines(view: DeviceView) -> list[str]:
    """A line per kernel for a summary."""
    return [_summary(card) for card in view.cards]


def _summary(card: KernelCard) -> str:
    block = " x ".join(map(str, card.block))
    counted = [row for row in card.accesses if row.counted is not None]
    told = ""
    if counted:
        requests = sum(row.requests for row in counted)
        average = sum((row.counted or 0.0) * row.requests for row in counted) / requests
        told = f", {average:.2f} transactions per request"
    return (
        f"{card.name}: {', '.join(card.statements)}; grid {card.grid_text}, block {block}, "
        f"{waiting(len(card.barriers))}{told}"
    )


def _trees_text(trees: LevelTrees) -> str:
    shared = [f"  kernel {loop.kernel}, {loop.text}" for loop in trees.shared]
    left, right = (tree_text(root).splitlines() for root in _roots(trees))
    if trees.same:
        return "\n".join(["One order for blocks and threads:", *(f"  {line}" for line in left), *shared])
    width = max(map(len, [_BLOCKS, *left]))
    pairs = zip_longest([_BLOCKS, *left], [_THREADS, *right], fillvalue="")
    columns = [f"  {one.ljust(width)}  |  {other}".rstrip() for one, other in pairs]
    return "\n".join(["Two orders:", *columns, "Loops of both:", *shared])


def _roots(trees: LevelTrees) -> tuple[Node, Node]:
    return read_tree(trees.blocks), read_tree(trees.threads)


def device_html(view: DeviceView) -> str:
    """The same as tables, pictures and trees."""
    cards = "".join(_card_html(card, counted=view.run is not None) for card in view.cards)
    pictures = "".join(_picture_html(picture) for picture in view.pictures)
    counted = "" if view.run is None else paragraph(f"{_COUNTED}: {view.run.text}.")
    return (
        counted
        + cards
        + details("Who runs which iteration", pictures)
        + details("Orders of blocks and threads", _trees_html(view.trees))
        + _resources_html(view)
    )


def _resources_html(view: DeviceView) -> str:
    if not view.compiler:
        return ""
    rows = [
        (
            row.kernel,
            row.architecture,
            str(row.registers),
            size_text(row.shared),
            size_text(row.spilled),
            f"{row.occupancy:.0%}",
        )
        for row in view.resources
    ]
    header = ("kernel", "architecture", "registers", "shared memory", "spilled", "occupancy")
    return details(f"{_RESOURCES} ({view.compiler})", table(rows, header, code=[0]) if rows else "")


def _card_html(card: KernelCard, *, counted: bool) -> str:
    html = items(card.long_grid) + items([f"{card.launches}."] if card.host else [])
    html += items([f"{card.occupancy_text}."])
    html += items([f"phase {number}: {phase}" for number, phase in enumerate(card.phases)])
    html += items(f"barrier: {barrier}" for barrier in card.barriers) or paragraph("No barrier.")
    if card.promotions:
        rows = [
            (one.array, one.place, " x ".join(map(str, one.extents)), _size(one), one.reason)
            for one in card.promotions
        ]
        html += table(rows, ("array", "lives in", "cells", "size", "why"), code=[0])
    html += items(f"{one}." for one in card.layouts)
    html += table([_access_cells(row, counted=counted) for row in card.accesses], _ACCESSES, code=[1])
    return details(_summary(card), html, opened=True)


def _size(promotion: Promotion) -> str:
    """The bytes of what was promoted; nothing for what stays in global memory."""
    return size_text(promotion.bytes) if promotion.bytes else ""


def _access_cells(row: AccessRow, *, counted: bool) -> list[str]:
    strides = ", ".join("?" if stride is None else str(stride) for stride in row.strides)
    expected = "" if row.expected is None else str(row.expected)
    found = "" if row.counted is None else f"{row.counted:.2f} in {plural(row.requests, 'request')}"
    if row.memory == "shared" and row.requests:
        found = f"{row.conflicts:.2f} bank conflicts in each of {plural(row.requests, 'request')}"
    if row.lanes is not None:
        found += f", {row.lanes:.1f} of {WARP} threads at work, {size_text(row.moved)}"
    elif counted:
        found = "did not run"
    return [
        row.statement,
        row.text,
        row.mode,
        row.memory,
        row.motion,
        f"({strides})" if strides else "",
        expected,
        found,
    ]


def _picture_html(picture: ThreadPicture) -> str:
    if not picture.points:
        return paragraph(f"{device_picture.title(picture)}: {picture.note}")
    alternative = f"{device_picture.title(picture)}: {'. '.join(device_picture.sentences(picture))}"
    return image(device_picture.draw(picture), alternative)


def _trees_html(trees: LevelTrees) -> str:
    left, right = (tree_html(root) for root in _roots(trees))
    shared = items(f"kernel {loop.kernel}, {loop.text}" for loop in trees.shared)
    if trees.same:
        return heading("One order for blocks and threads") + f"<div>{left}</div>" + shared
    cell = 'style="text-align:left;vertical-align:top"'
    head = f'<tr><th scope="col" {cell}>{_BLOCKS}</th><th scope="col" {cell}>{_THREADS}</th></tr>'
    body = f"<tr><td {cell}>{left}</td><td {cell}>{right}</td></tr>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>" + heading("Loops of both") + shared


def card_model(card: KernelCard) -> KernelCardModel:
    """One kernel as JSON."""
    return {
        "name": card.name,
        "statements": list(card.statements),
        "grid": list(card.grid),
        "block": list(card.block),
        "threads": list(card.threads),
        "phases": list(card.phases),
        "barriers": list(card.barriers),
        "promotions": [
            {
                "array": one.array,
                "place": one.place,
                "extents": list(one.extents),
                "bytes": one.bytes,
                "reason": one.reason,
                "together": one.together,
            }
            for one in card.promotions
        ],
        "accesses": [_access_model(row) for row in card.accesses],
        "layouts": list(card.layouts),
        "launches": card.launches,
        "occupancy": card.occupancy_text,
    }


def _access_model(row: AccessRow) -> DeviceAccessModel:
    return {
        "statement": row.statement,
        "line": row.line,
        "text": row.text,
        "mode": row.mode,
        "memory": row.memory,
        "kind": row.kind,
        "strides": list(row.strides),
        "piece": row.piece,
        "expected": row.expected,
        "counted": row.counted,
        "requests": row.requests,
        "lanes": row.lanes,
        "conflicts": row.conflicts,
        "bytes": row.moved,
    }


def picture_model(picture: ThreadPicture) -> ThreadPictureModel:
    """Who runs what, as JSON."""
    return {
        "kernel": picture.kernel,
        "statement": picture.statement,
        "iterators": list(picture.iterators),
        "fixed": dict(picture.fixed),
        "values": dict(picture.values),
        "block": list(picture.block),
        "rules": list(picture.rules),
        "points": [[*one.iteration, *one.block, *one.thread] for one in picture.points],
        "note": picture.note,
    }


def resource_models(view: DeviceView) -> list[ResourceModel]:
    """What the compiler reports, as JSON."""
    return [
        {
            "kernel": row.kernel,
            "architecture": row.architecture,
            "registers": row.registers,
            "shared": row.shared,
            "spilled": row.spilled,
            "occupancy": row.occupancy,
        }
        for row in view.resources
    ]


def run_model(view: DeviceView) -> DeviceRunModel | None:
    """What an emulated run counted, as JSON."""
    run = view.run
    if run is None:
        return None
    return {
        "sizes": dict(run.sizes),
        "launches": run.launches,
        "barriers": run.barriers,
        "requests": run.requests,
        "transactions": run.transactions,
        "asked": run.asked,
        "moved": run.moved,
        "conflicts": run.conflicts,
        "verified": run.verified,
        "text": run.text,
    }


def shared_models(trees: LevelTrees) -> list[SharedLoopModel]:
    """The loops of both levels as JSON."""
    return [
        {
            "kernel": loop.kernel,
            "row": loop.row,
            "statements": list(loop.statements),
            "block": loop.block,
            "tile": loop.tile,
            "thread": loop.thread,
        }
        for loop in trees.shared
    ]
