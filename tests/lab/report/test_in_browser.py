"""The page in a headless Chromium: it renders, complains of nothing, asks the network nothing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from matplotlib.image import imread

from lab.report.html.run import run_page
from tests.lab.report.pages import BUILD, corrupt_run

CHROMIUM = Path("/usr/bin/chromium")
LONG_S = 240  # a machine may be busy; a browser that hangs must end
DARK, LIGHT = 0, 1
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}")


def browse(page: Path, profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page with a profile of its own; the console is on stderr."""
    return subprocess.run(
        [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--enable-logging=stderr", f"--user-data-dir={profile}", "--hide-scrollbars"),
            *("--host-resolver-rules=MAP * ~NOTFOUND", *options, page.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=True,
    )


def console(said: subprocess.CompletedProcess[str]) -> list[str]:
    """What the page complained of: a request that its policy forbids is a complaint, too."""
    return [line for line in said.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corrupt run's page in a file."""
    folder = tmp_path_factory.mktemp("page")
    file = folder / "report.html"
    file.write_text(run_page(corrupt_run(folder)), encoding="utf-8")
    return file


def test_it_renders_whole_without_a_complaint(page: Path, tmp_path: Path) -> None:
    said = browse(page, tmp_path, "--dump-dom")
    assert console(said) == []
    assert said.stdout.count("<svg") == 4 and said.stdout.count("<section") >= 12
    assert f'<article id="{BUILD}">' in said.stdout
    assert re.search(r'id="verdict">.{0,60}corrupt</span>', said.stdout)


def test_a_page_that_asked_for_anything_would_complain(page: Path, tmp_path: Path) -> None:
    asking = tmp_path / "asking.html"
    link = '<img src="http://example.org/x.png"><script>1</script>'
    text = page.read_text(encoding="utf-8").replace("<main", f"{link}<main")
    asking.write_text(text, encoding="utf-8")
    assert len(console(browse(asking, tmp_path / "profile", "--dump-dom"))) >= 2


@pytest.mark.parametrize(("scheme", "bright"), [(DARK, False), (LIGHT, True)])
def test_it_follows_the_reader_s_dark_or_light(
    page: Path, tmp_path: Path, scheme: int, bright: bool
) -> None:
    shot = tmp_path / "shot.png"
    options = (f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1200,1400")
    browse(page, tmp_path / "profile", *options, f"--screenshot={shot}")
    pixels = imread(shot)[..., :3]
    assert bool(pixels.mean() > 0.5) is bright
    assert pixels.std() > 0.05  # something is written on it


def test_it_prints(page: Path, tmp_path: Path) -> None:
    pdf = tmp_path / "report.pdf"
    browse(page, tmp_path / "profile", f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    assert pdf.read_bytes().startswith(b"%PDF") and pdf.stat().st_size > 20_000
