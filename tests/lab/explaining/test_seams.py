"""Violations point at questions of the engine, by evidence alone."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import lab.concerned
import lab.explaining
from engine.seams import SEAMS
from lab.explaining.damage import Damage
from lab.explaining.seams import EDGES, RULES, Facts, question, rule_of

HOST = Facts(unlike=frozenset({("host", "index_k")}))
DECODE = Facts(unlike=frozenset({("decode", "index_k")}))
CUT = Facts(cut=frozenset({"index_k"}))
NONE = Facts()


def seams(name: str, facts: Facts = NONE, **fields: Any) -> tuple[str, ...]:
    rule = rule_of([Damage(1, 1, name, {"pool": "index_k", **fields})], facts)
    return rule.seams if rule else ()


@pytest.mark.parametrize(
    ("name", "seam"),
    [
        ("padded_row_wrote_owned_slot", "dead_rows index_k_store"),
        ("row_shared_by_two_slots", "index_k_buffer"),
        ("read_of_unwritten_row", "prefix_publication"),
        ("page_changed_between_match_and_read", "prefix_pin"),
        ("read_before_load", "read_gate"),
        ("read_during_load", "read_gate"),
        ("page_changed_under_backup", "backup_start"),
        ("host_page_changed_under_load", "host_reuse"),
        ("host_hit_on_unwritten_page", "backup_refusal"),
        ("load_wrote_page_in_use", "load_target"),
        ("late_write_into_owned_page", "room_fence"),
        ("token_of_another_row", "row_owner"),
        ("logits_outside_their_row", "logits_offset"),
        ("first_token_of_another_room", "metadata_check metadata_take"),
    ],
)
def test_a_name_that_says_its_mechanism_points_at_its_seam(name: str, seam: str) -> None:
    assert seams(name) == tuple(seam.split())


def test_a_restored_page_that_differs_is_the_layout_s_where_the_tiers_are_not_alike() -> None:
    assert seams("restored_page_differs", HOST) == ("host_layout",)
    assert seams("restored_page_differs", CUT) == ("token_transfer", "transfer_pieces")
    untold = ("host_layout", "host_reuse", "token_transfer")
    assert seams("restored_page_differs") == untold


def test_bytes_that_arrive_otherwise_are_the_peer_s_where_the_sides_are_not_alike() -> None:
    assert seams("room_bytes_differ", DECODE) == ("peer_layout",)
    assert seams("room_bytes_differ") == ("room_fence", "peer_layout")


@pytest.mark.parametrize(
    ("kind", "facts", "seam"),
    [
        ("padding", NONE, "dead_rows index_k_store"),
        ("transfer", NONE, "room_fence"),
        ("transfer", DECODE, "peer_layout"),
        ("load", HOST, "host_layout"),
        ("load", CUT, "token_transfer transfer_pieces"),
        ("load", NONE, "backup_start host_reuse backup_refusal"),
        ("decode", NONE, "page_reuse index_k_buffer"),
    ],
)
def test_a_read_of_a_foreign_row_goes_by_who_wrote_it(kind: str, facts: Facts, seam: str) -> None:
    assert seams("read_foreign_row", facts, writer_kind=kind) == tuple(seam.split())


def test_an_unordered_backup_is_told_by_either_operation() -> None:
    assert seams("unordered_access", writer_kind="backup") == ("backup_start",)
    by_reader = seams("unordered_access", reader="backup 4 of pages", writer_kind="prefill")
    assert by_reader == ("backup_start",)


def test_an_unordered_load_out_of_the_host_is_the_reuse_of_its_page() -> None:
    assert seams("unordered_access", writer_kind="load", tier="host") == ("host_reuse",)
    assert seams("unordered_access", writer_kind="load") == ("load_target",)


def test_of_a_chain_the_root_is_asked_first_and_a_vague_word_yields() -> None:
    read = Damage(3, 3, "read_changed_bytes", {"writer_kind": "load", "pool": "index_k"})
    differs = Damage(2, 2, "restored_page_differs", {"pool": "index_k"})
    reused = Damage(1, 1, "host_page_changed_under_load", {})
    for links in ([read, differs, reused], [reused, read, differs]):
        rule = rule_of(links, NONE)
        assert rule is not None and rule.seams == ("host_reuse",)
    rule = rule_of([read, differs], NONE)
    assert rule is not None and rule.vague


def test_a_name_that_nobody_knows_points_at_nothing() -> None:
    assert seams("never_heard_of") == ()


def test_every_seam_that_is_named_is_the_engine_s_and_has_an_edge() -> None:
    assert {seam for rule in RULES for seam in rule.seams} <= set(SEAMS)
    assert sorted(EDGES) == sorted(SEAMS)


@pytest.mark.parametrize("seam", SEAMS)
def test_a_question_tells_what_it_asks_and_the_healthy_answer(seam: str) -> None:
    told = question(seam)
    assert told.asks.endswith("?") and not told.asks.startswith("Seam")
    assert told.healthy.startswith("engine.") and told.answers and told.edge


def looked_at(node: ast.AST) -> set[str]:
    """What a piece of source names: modules, names, attributes, and texts that may be keys."""
    if isinstance(node, ast.ImportFrom):
        return {node.module or "", *(f"{node.module}.{it.name}" for it in node.names)}
    if isinstance(node, ast.Import):
        return {it.name for it in node.names}
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    return set()


def asks_for_the_build(source: str) -> bool:
    named = {each for node in ast.walk(ast.parse(source)) for each in looked_at(node)}
    words = {word for each in named if " " not in each for word in each.split(".")}
    return "build" in words or any(each.startswith("engine.defects") for each in named)


@pytest.mark.parametrize(
    "source",
    [
        "history.settings['build']",
        "settings.get('engine.build')",
        "it.build.defects",
        "import engine.defects.names",
        "from engine import defects",
    ],
)
def test_a_look_at_the_build_would_be_seen(source: str) -> None:
    assert asks_for_the_build(source)


def test_nothing_here_looks_at_the_build() -> None:
    paths = [*Path(lab.explaining.__file__).parent.glob("*.py"), Path(lab.concerned.__file__)]
    assert [it.name for it in paths if asks_for_the_build(it.read_text(encoding="utf-8"))] == []


def test_a_request_that_wrote_the_foreign_row_itself_has_two_rows_in_the_same_bytes() -> None:
    own = {"request": 3, "writer_request": 3, "writer_kind": "prefill"}
    assert seams("read_foreign_row", **own) == ("index_k_buffer",)


def test_damage_that_names_no_pool_goes_by_whether_any_is_unlike() -> None:
    rule = rule_of([Damage(1, 1, "unordered_access", {"writer_kind": "transfer"})], DECODE)
    assert rule is not None and rule.seams == ("peer_layout",)
