"""`kvlab doctor` finds facts and never fails on them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import lab.geometry
from engine.config import EngineConfig
from engine.pools.geometry import GeometryRow
from tests.lab.scenario.files import GOOD, write
from tests.lab.tiers import row


def test_doctor_says_versions_machine_and_database(folder: Path, kvlab) -> None:
    facts = kvlab("doctor", "--json").json
    assert facts["versions"]["torch"] == torch.__version__
    assert len(facts["versions"]["sources"]) == 16
    assert facts["machine"]["cores"] >= 1
    assert facts["database"]["state"].startswith("absent")
    assert not (folder / "results").exists()


def test_doctor_tells_of_a_database_that_is_none(folder: Path, kvlab) -> None:
    (folder / "text.duckdb").write_text("not a database at all")
    said = kvlab("doctor", "--db", "text.duckdb")
    assert said.code == 0 and "text.duckdb" in said.out


def geometry_of(config: EngineConfig) -> list[GeometryRow]:
    """Index-K in both tiers, the host's row as if it were always fp8."""
    size = {"fp8": 8448, "bf16": 16384}[config.index_k]
    rows = [row("device", size)]
    if config.hicache:
        rows.append(row("host", 8448, agrees=size == 8448))
    return [GeometryRow(**fields) for fields in rows]


@pytest.fixture
def geometry(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine that only knows what its pools would be."""
    monkeypatch.setattr(lab.geometry, "geometry_of", geometry_of)
    return folder


def test_the_geometry_is_that_of_the_defaults_with_either_index_k(geometry: Path, kvlab) -> None:
    fp8, bf16 = kvlab("doctor", "--geometry", "--json").json["geometry"]
    assert (fp8["engine"], fp8["build"]) == ("defaults, index_k fp8, hicache on", [])
    assert [found["agrees"] for found in fp8["rows"]] == [True, True]
    assert [found["item_bytes"] for found in bf16["rows"]] == [16384, 8448]
    assert not (geometry / "results").exists()


def test_a_mismatch_is_named_under_its_table_and_fails_nothing(geometry: Path, kvlab) -> None:
    said = kvlab("doctor", "--geometry")
    told = "MISMATCH: index_k: 8,448 bytes a row on the host, 16,384 on the device"
    assert said.code == 0 and said.out.count(told) == 1
    assert "defaults, index_k bf16, hicache on (build: healthy)" in said.out


def test_the_pools_are_summed(geometry: Path, kvlab) -> None:
    fp8, _ = kvlab("doctor", "--geometry", "--json").json["geometry"]
    assert fp8["bytes"] == {"device": 8448 * 833, "host": 8448 * 1665}
    assert (
        "in all 0.020 GiB (device 0.007 GiB, host 0.013 GiB)" in kvlab("doctor", "--geometry").out
    )


def test_what_a_prefill_chunk_weighs_on_the_wire_follows_the_pools(geometry: Path, kvlab) -> None:
    chunk = kvlab("doctor", "--geometry", "--json").json["chunk"]
    assert (chunk["flash"]["fp8"]["total"], chunk["flash"]["bf16"]["total"]) == (
        31_942_656,
        37_275_648,
    )
    assert "One prefill chunk of 8,192 tokens on the wire" in kvlab("doctor", "--geometry").out


def test_the_geometry_of_a_scenario_is_that_of_each_arm_and_its_build(
    geometry: Path, kvlab
) -> None:
    entries = kvlab("doctor", "--geometry", "good.yaml", "--json").json["geometry"]
    names = ["bf16, graph on", "fp8, graph on", "bf16, one at a time"]
    assert [entry["engine"] for entry in entries] == names
    assert entries[0]["build"] == ["padded_scatter_stale_slots"]
    assert [len(entry["rows"]) for entry in entries] == [1, 1, 1]


def test_a_scenario_that_cannot_be_looked_at_is_one_line(geometry: Path, kvlab) -> None:
    said = kvlab("doctor", "--geometry", "none.yaml")
    assert said.code == 2 and "none.yaml: no such file" in said.err


def test_the_geometry_of_a_scenario_can_be_asked_of_a_patched_one(geometry: Path, kvlab) -> None:
    argv = ("doctor", "--geometry", "good.yaml", "--set", "engine.hicache=true", "--json")
    entries = kvlab(*argv).json["geometry"]
    assert [len(entry["rows"]) for entry in entries] == [2, 2, 2]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["good.yaml"], "good.yaml is for the report of pools; add --geometry"),
        (["--set", "engine.radix=false"], "--set engine.radix=false is for the report of pools"),
        (["--geometry", "--bench"], "--geometry and --bench are two reports"),
        (["--geometry", "--set", "engine.radix=false"], "--set patches a scenario; name one"),
    ],
)
def test_reports_that_do_not_go_together_are_one_line(argv, says, geometry: Path, kvlab) -> None:
    said = kvlab("doctor", *argv)
    assert said.code == 2 and says in said.err
    assert said.out == "" and said.err.count("\n") == 1


def test_the_engine_s_own_mirrors_agree_with_the_device(folder: Path, kvlab) -> None:
    for entry in kvlab("doctor", "--geometry", "--json").json["geometry"]:
        assert all(row["agrees"] for row in entry["rows"])
        assert {row["tier"] for row in entry["rows"]} == {"device", "host"}


def test_of_a_build_with_a_wrong_mirror_its_bf16_index_keys_alone_disagree(
    folder: Path, kvlab
) -> None:
    text = GOOD.replace("[padded_scatter_stale_slots]", "[host_mirror_sized_as_fp8]")
    text = text[: text.index("expect:")].replace("concurrency: 60}", "hicache: true}")
    write(folder, text)
    bf16, fp8, _ = kvlab("doctor", "--geometry", "good.yaml", "--json").json["geometry"]
    wrong = [(row["pool"], row["tier"]) for row in bf16["rows"] if not row["agrees"]]
    assert wrong == [("index_k", "host")]
    assert all(row["agrees"] for row in fp8["rows"])
