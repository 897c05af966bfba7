"""`kvlab bisect` on the command line: one document, one line for a mistake, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.bisecting import perform as performing
from lab.bisecting.order import Order
from lab.bisecting.perform import Place, perform
from lab.commands.output import BisectionTeller
from lab.errors import Interrupted
from lab.records import Asked
from lab.store import RUN, open_results
from tests.lab.bisecting.simulated import CAMPAIGN, Fake, write
from tests.lab.scenario.files import GOOD
from tests.lab.scenario.files import write as write_good

DB = Path("results/lab.duckdb")
FILE = Path("campaign.yaml")
SMALL = Order(sets=("workload.sessions=2",), no_confirm=True)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: `campaign.yaml` and nothing else."""
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


@pytest.fixture
def done() -> str:
    """The id of a stored bisection that is done."""
    return str(perform(FILE, SMALL, Place(DB, replay=False), None, Fake(p1=0.9))[0]["bisection"])


def refused(kvlab, *argv: str) -> str:
    """The one line with which a mistake is refused; nothing is begun."""
    said = kvlab("bisect", *argv)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("kvlab: ") and said.err.count("\n") == 1
    return str(said.err)


def test_json_is_one_document_with_the_public_keys(done: str, kvlab) -> None:
    said = kvlab("bisect", "--resume", done, "--json")
    assert said.code == 0
    told = said.json
    assert told.keys() >= {
        *("verdict", "culprits", "roles", "sufficient", "posterior", "rate_bad", "rate_good"),
        *("sessions_spent", "probes", "threshold", "evidence"),
        *("bisection", "scenario", "seed", "unit", "method", "outcome", "reason", "candidates"),
        *("evidence_cleared", "exposure", "arms", "guarantee", "thresholds", "refused"),
    }
    assert told["probes"][0].keys() >= {"toggles", "sessions", "corrupt", "phase"}
    assert told["culprits"][0] == {"toggle": "index_k", "bad": "bf16", "good": "fp8"}


def test_a_person_reads_the_verdict_first(done: str, kvlab) -> None:
    said = kvlab("bisect", str(FILE), "--resume", done[-4:])
    assert said.code == 0
    first = said.out.partition("\n")[0]
    assert first.startswith("SUSPECT: index_k=bf16 ") and "graph=true" in first
    assert f"bisection {done}, scenario campaign, seed 3" in said.out
    assert f"the verdict, its probes and report.html are in results/{done}\n" in said.err


def test_out_names_the_folder(done: str, kvlab, tmp_path: Path) -> None:
    said = kvlab("bisect", "--resume", "last", "--out", "there", "--json")
    assert said.code == 0 and (tmp_path / "there" / "bisection.json").exists()
    (tmp_path / "file").write_text("")
    assert "--out names another" in refused(kvlab, "--resume", "last", "--out", "file/x")


def test_runs_lists_bisections_with_the_keys_of_a_run(done: str, kvlab) -> None:
    with pytest.raises(Interrupted):
        perform(FILE, SMALL, Place(DB, replay=False), None, Fake(stops_after=3))
    stopped, whole = kvlab("runs", "--json").json
    assert (whole["run"], whole["kind"], whole["scenario"]) == (done, "bisection", "campaign")
    assert (whole["status"], whole["verdicts"]) == ("done", ["SUSPECT"])
    assert [it["toggle"] for it in whole["culprits"]] == ["index_k", "graph"]
    assert (stopped["status"], stopped["verdicts"]) == ("interrupted", [])
    assert (stopped["trials"], stopped["sessions"], stopped["arms"]) == (3, 6, [])
    table = kvlab("runs").out
    assert done in table and stopped["run"] in table and "SUSPECT" in table


def test_a_bisection_is_not_shown_as_a_run(done: str, kvlab) -> None:
    for name in (done, done[:8], done[-4:], "last"):
        kvlab_says = kvlab("show", name)
        assert (kvlab_says.code, kvlab_says.err.count("\n")) == (2, 1)
        assert f"{done} is a bisection, not a run; `kvlab report {done}` shows it" in kvlab_says.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--method", "baies"], "--method baies: no such method; accepted: bayes, ddmin"),
        (["--method", "baies"], "(did you mean 'bayes'?)"),
        (["--unit", "reply"], "'auto', 'session', 'boot'"),
        (["--outcome", "slow"], "'corrupt', 'wedged', 'violated'"),
        (["--budget", "0"], "'--budget'"),
        (["--jobs", "0"], "'--jobs': must be greater than or equal to 1"),
        (["--fix", "grpah"], "--fix grpah: not on offer in `toggles`; accepted: index_k, graph"),
        (["--set", "toggles.graph.bad=false"], "bad and good are both false"),
        (["--set", "toggles.gaph.bad=false"], "toggles.gaph"),
    ],
)
def test_a_mistaken_option_is_one_line(argv: list[str], says: str, kvlab, tmp_path: Path) -> None:
    assert says in refused(kvlab, str(FILE), *argv)
    assert not (tmp_path / "results").exists()


def test_neither_a_scenario_nor_an_id_is_one_line(kvlab, tmp_path: Path) -> None:
    assert "give SCENARIO, or --resume ID" in refused(kvlab)
    assert "no such file" in refused(kvlab, "nowhere.yaml")
    assert "no such database; `kvlab bisect` makes it" in refused(kvlab, "--resume", "last")


def test_a_file_without_toggles_is_one_line(kvlab, tmp_path: Path) -> None:
    begin, _, rest = GOOD.partition("toggles:")
    write_good(tmp_path, begin + rest[rest.index("expect:") :])
    assert "good.yaml: toggles: is missing" in refused(kvlab, "good.yaml")


def test_a_budget_too_small_says_which_would_do(kvlab, here: Path) -> None:
    said = refused(kvlab, str(FILE), "--no-confirm", "--budget", "100")
    begins = "kvlab: --budget 100: too small to conclude anything: an arm that stays clean takes "
    assert said.startswith(begins)
    takes = int(said.removeprefix(begins).split()[0])
    assert 228 <= takes <= int(said.partition(" sessions; ")[2].split()[0])
    write(here.parent, CAMPAIGN + "bisect: {budget: 90, unit: session}\n")
    said = refused(kvlab, str(FILE), "--no-confirm")
    assert said.startswith("kvlab: campaign.yaml: bisect.budget: 90: too small")
    would = int(said.partition(" sessions; ")[2].split()[0])
    assert would >= 228


def test_resume_takes_no_other_arguments(done: str, kvlab) -> None:
    said = refused(kvlab, str(FILE), "--resume", "last", "--budget", "900", "--seed", "1")
    assert "stored; leave out --seed" in said
    assert "no bisection 'zzz'" in refused(kvlab, "--resume", "zzz")


def test_a_plan_names_the_first_probes_and_the_cost_and_begins_nothing(
    kvlab, tmp_path: Path
) -> None:
    said = kvlab("bisect", str(FILE), "--plan", "--no-confirm", "--json")
    assert said.code == 0 and not (tmp_path / "results").exists()
    told = said.json
    phases = [probe["phase"] for probe in told["probes"]]
    assert phases[:2] == ["reproduce", "control"] and set(phases[2:]) == {"discover"}
    assert told["probes"][1]["toggles"] == {}
    rates = [cost["rate"] for cost in told["expected"]]
    means = [cost["sessions_mean"] for cost in told["expected"]]
    assert rates == [0.5, 0.17, 0.06] and means == sorted(means) and means[0] > 0
    assert all(cost["minutes_mean"] is None for cost in told["expected"])


def test_a_plan_counts_minutes_once_a_trial_was_timed(done: str, kvlab) -> None:
    argv = ("bisect", str(FILE), "--plan", "--no-confirm", "--method", "ddmin", "--jobs", "2")
    told = kvlab(*argv, "--json").json
    assert told["seconds_a_session"] == 0.25  # half a second for two sessions
    for cost in told["expected"]:
        minutes = cost["sessions_mean"] * 0.25 / 2 / 60
        assert cost["minutes_mean"] == pytest.approx(minutes, abs=0.06)
    shown = kvlab(*argv).out
    assert "within" in shown and "minutes" in shown


def test_a_plan_says_of_how_many_simulated_searches_it_is_and_what_would_do(kvlab) -> None:
    argv = ("bisect", str(FILE), "--plan", "--no-confirm", "--method", "ddmin")
    least = kvlab(*argv, "--json").json["expected"][2]["sessions_most"]
    said = kvlab(*argv, "--budget", str(10 * least))
    assert "expected, of 8 simulated searches a rate; the budget is" in said.out
    assert "8 of 8" in said.out and "most" in said.out
    assert "minutes" not in said.out and "will not do" not in said.out
    short = kvlab(*argv, "--budget", "350").out
    assert f"the budget will not do where 6% are corrupt: --budget {-(-least // 10) * 10}" in short


def test_help_explains_bisect(kvlab) -> None:
    said = kvlab("bisect", "--help")
    assert said.code == 0 and "--resume" in said.out and "--fix" in said.out


def test_report_shows_a_bisection_and_writes_its_folder_again(
    done: str, kvlab, tmp_path: Path
) -> None:
    said = kvlab("report", done[-4:], "--out", "there")
    assert said.code == 0 and said.out.startswith("SUSPECT: index_k=bf16 and graph=true together; ")
    files = sorted(path.name for path in (tmp_path / "there").iterdir())
    pictures = ["posterior.png", "posterior.svg", "probes.png", "probes.svg"]
    assert files == ["bisection.json", *pictures, "report.html", "report.md"]
    first = tmp_path / "results" / done
    for name in files:
        assert (first / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert kvlab("report", "last", "--json").json["bisection"] == done  # there is no run


def test_a_bisection_without_verdict_has_no_report(kvlab) -> None:
    with pytest.raises(Interrupted):
        perform(FILE, SMALL, Place(DB, replay=False), None, Fake(stops_after=3))
    said = kvlab("report")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "is interrupted, without verdict; `kvlab bisect --resume " in said.err


def test_report_without_a_name_is_of_the_newest_run_or_bisection(done: str, kvlab) -> None:
    with open_results(DB) as results:
        results.begin_run("campaign_failing", "", 0, {})  # what a replay leaves behind
    assert kvlab("report", "--json").json["bisection"] == done
    with open_results(DB) as results:
        later = results.begin_run("any", "", 0, {}, Asked(("kvlab", "run", "any.yaml")))
        assert results.meant("last") == (RUN, later)


def test_a_person_reads_the_verdict_before_the_replay_is_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document, folder = perform(FILE, SMALL, Place(DB, replay=False), None, Fake(p1=0.9))
    made = {"scenario": "x/replay.yaml", "run": "r", "sessions": [0], "sessions_planned": 4}
    teller = BisectionTeller(as_json=False)
    teller.verdict(document, folder)
    assert capsys.readouterr().out.startswith("SUSPECT: ")
    teller.end({**document, "replay": made})
    assert capsys.readouterr().out.startswith("see it fail: `kvlab run x/replay.yaml` repeats")
    teller.verdict({**document, "replay": made}, folder)
    assert "`kvlab run x/replay.yaml`" in " ".join(capsys.readouterr().out.split())
    teller.end({**document, "replay": made})
    assert capsys.readouterr().out == ""
    teller = BisectionTeller(as_json=True)
    teller.verdict(document, folder)
    assert capsys.readouterr().out == ""
    teller.end(document)
    assert json.loads(capsys.readouterr().out) == document


def test_more_budget_may_stand_beside_resume(done: str, kvlab) -> None:
    assert kvlab("bisect", "--resume", done, "--budget", "2000").code == 0  # as much as it had
    said = refused(kvlab, "--resume", done, "--budget", "300")
    assert "has 2000 sessions already; give more, or no --budget" in said


def test_with_json_the_one_document_comes_after_the_replay_and_has_it(
    kvlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"scenario": "x/replay.yaml", "run": "r", "sessions": [0], "sessions_planned": 4}
    made_by: list[dict[str, object]] = []
    monkeypatch.setattr(performing, "replayed", lambda *_: made_by[0] if made_by else None)
    perform(FILE, SMALL, Place(DB), None, Fake(p1=0.9))
    made_by.append(made)
    said = kvlab("bisect", "--resume", "last", "--json")
    assert said.code == 0 and said.json["replay"] == made
    assert "see it fail" not in said.out


def test_what_is_offered_names_the_database_that_the_user_named(kvlab, tmp_path: Path) -> None:
    db = tmp_path / "my own.duckdb"
    perform(FILE, SMALL, Place(db, replay=False), None, Fake(p1=0.9))
    assert kvlab("report", "--db", str(db), "--json").json["where"] == f"--db '{db}'"
    moved = db.rename(tmp_path / "moved.duckdb")
    assert kvlab("report", "--db", str(moved), "--json").json["where"] == f"--db {moved}"
