"""A bisection taken up again: what was refused, what died, and what more budget finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import interrupts
from lab.bisecting.order import Order
from lab.bisecting.perform import Place, perform
from lab.errors import Interrupted, TargetError, UserError
from lab.store import RunStatus, open_results
from tests.lab.bisecting.simulated import CAMPAIGN, Fake, write

ORDER = Order(sets=("workload.sessions=4", "bisect.p_min=0.1"), no_confirm=True)
FEW = replace(ORDER, budget=200)
ITS_OWN = {"bisection": "", "where": ""}  # keys that no two databases share


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "results" / "lab.duckdb", None, 1, replay=False)


def again(place: Place, fake: Fake, budget: int | None = None) -> dict[str, Any]:
    return perform(None, Order(budget=budget), place, "last", fake)[0]


def status(place: Place) -> RunStatus:
    with open_results(place.db) as results:
        return results.bisections()[-1].status


def test_what_was_refused_is_refused_again_and_nothing_is_asked(file: Path, place: Place) -> None:
    told = perform(file, FEW, place, None, Fake(p1=0.9, needs="overlap"))[0]
    assert told["refused"] and {it["reason"] for it in told["refused"]} == {"needs overlap"}
    silent = Fake()  # which would refuse nothing
    assert again(place, silent) == told
    assert silent.ran == []


def test_an_interruption_among_refusals_changes_nothing(file: Path, place: Place) -> None:
    elsewhere = replace(place, db=place.db.with_name("other.duckdb"))
    whole = perform(file, FEW, elsewhere, None, Fake(p1=0.9, needs="overlap"))[0]
    with pytest.raises(Interrupted):
        perform(file, FEW, place, None, Fake(p1=0.9, needs="overlap", stops_after=9))
    told = again(place, Fake(p1=0.9, needs="overlap"))
    assert told | ITS_OWN == whole | ITS_OWN


def test_what_duckdb_makes_of_an_interruption_is_one(
    file: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(stops_after=9, raises=RuntimeError("Query interrupted"))
    monkeypatch.setattr(interrupts, "_noted", [])
    monkeypatch.setattr(fake, "ran", Noting(fake.ran, 9))
    with pytest.raises(Interrupted, match="9 trials"):
        perform(file, ORDER, place, None, fake)
    assert status(place) is RunStatus.INTERRUPTED


class Noting(list[Any]):
    """Notes a signal with the ``last`` trial that was run, as a handler does."""

    def __init__(self, had: list[Any], last: int) -> None:
        super().__init__(had)
        self.last = last

    def __len__(self) -> int:
        many = super().__len__()
        if many == self.last:
            interrupts._noted.append(2)
        return many


def test_an_engine_that_dies_in_every_trial_is_no_verdict_and_can_be_gone_on_with(
    file: Path, place: Place
) -> None:
    with pytest.raises(TargetError, match=r"^the engine died: it broke; `kvlab bisect ") as gone:
        perform(file, ORDER, place, None, Fake(dead=range(1000)))
    assert (gone.value.exit_code, status(place)) == (3, RunStatus.FAILED)
    elsewhere = replace(place, db=place.db.with_name("other.duckdb"))
    whole = perform(file, ORDER, elsewhere, None, Fake())[0]
    assert again(place, Fake()) | ITS_OWN == whole | ITS_OWN


def test_an_engine_that_dies_now_and_then_is_an_observation(file: Path, place: Place) -> None:
    told = perform(file, ORDER, place, None, Fake(dead=range(3, 4)))[0]
    assert told["verdict"] == "SUSPECT"
    assert ["the engine died: it broke"] in [probe["unknown"] for probe in told["probes"]]


def test_more_budget_goes_on_where_the_search_ended(file: Path, place: Place) -> None:
    elsewhere = replace(place, db=place.db.with_name("other.duckdb"))
    whole, enough = Fake(), replace(ORDER, budget=1500)
    found = perform(file, enough, elsewhere, None, whole)[0]
    short = Fake()
    told = perform(file, replace(ORDER, budget=found["sessions_spent"] - 20), place, None, short)[0]
    assert told["verdict"] == "UNDETERMINED"
    rest = Fake()
    after = again(place, rest, 1500)
    assert after | ITS_OWN == found | ITS_OWN
    assert set(short.ran).isdisjoint(rest.ran)
    with open_results(place.db) as results:
        probes = results.probes(after["bisection"])
        assert results.bisections()[-1].options["parameters"]["budget"] == 1500
    assert [len(it.outcome) for it in probes] == [len(it["trials"]) for it in after["probes"]]
    last = Fake()
    assert again(place, last) == after
    assert last.ran == []


def test_an_interruption_under_more_budget_keeps_the_verdict_of_before(
    file: Path, place: Place
) -> None:
    told = perform(file, replace(ORDER, budget=100), place, None, Fake())[0]
    with pytest.raises(Interrupted):
        again(place, Fake(stops_after=0), 1500)
    with open_results(place.db) as results:
        assert results.bisections()[-1].verdict == told
    assert again(place, Fake())["verdict"] == "SUSPECT"


def test_less_budget_than_it_had_is_one_line(file: Path, place: Place) -> None:
    perform(file, replace(ORDER, budget=400), place, None, Fake())
    with pytest.raises(UserError, match=r"^--budget 300: bisection .* has 400 sessions already"):
        again(place, Fake(), 300)


def test_a_remembered_file_that_is_another_now_is_only_noted(
    file: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    told = perform(file, ORDER, place, None, Fake())[0]
    write(file.parent, CAMPAIGN.replace("name: campaign", "name: other"))
    assert again(place, Fake()) == told
    assert f"note: {file} has changed since" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("db", "out", "option"), [("file/l.duckdb", None, "--db"), ("l.duckdb", "file/x", "--out")]
)
def test_a_folder_that_cannot_be_made_is_told_with_the_option_that_names_another(
    file: Path, db: str, out: str | None, option: str
) -> None:
    (file.parent / "file").write_text("")
    place = Place(file.parent / db, out and file.parent / out)
    with pytest.raises(UserError, match=f"; {option} names another$"):
        perform(file, ORDER, place, None, Fake())
