# SPDX-License-Identifier: BSD-3-Clause
"""The workflows run what was looked at, with no more rights than they need."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
# What a job may write, and why it must.
RIGHTS = {
    ("codeql", "analyze"): {"security-events"},  # uploads what it found
    ("requirements", "propose"): {"contents", "pull-requests"},  # opens a pull request
    ("wheels", "provenance"): {"id-token", "attestations"},  # signs the wheels
}

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="only in a source checkout")


def named(paths):
    return pytest.mark.parametrize("path", paths, ids=[path.stem for path in paths])


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


def steps(path):
    return [step for job in jobs(path).values() for step in job["steps"]]


@named(WORKFLOWS)
def test_actions_are_named_by_commit(path):
    """A tag can be moved to other code."""
    uses = [line.strip() for line in path.read_text().splitlines() if "uses:" in line]
    assert uses
    assert [u for u in uses if not re.search(r"uses: \S+@[0-9a-f]{40} # v[\d.]+$", u)] == []


def test_an_action_has_one_version():
    uses = {step["uses"] for path in WORKFLOWS for step in steps(path) if "uses" in step}
    actions = {re.sub(r"^(github/codeql-action)/\w+", r"\1", use) for use in uses}
    assert len(actions) == len({action.split("@")[0] for action in actions})


@named(WORKFLOWS)
def test_no_checkout_keeps_the_token(path):
    """Else all that a job runs could push with it."""
    checkouts = [s for s in steps(path) if s.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(s["with"]["persist-credentials"] is False for s in checkouts)


@named(WORKFLOWS)
def test_jobs_may_only_read(path):
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    for name, job in jobs(path).items():
        rights = job.get("permissions", {}).items()
        written = {right for right, access in rights if access != "read"}
        assert written == RIGHTS.get((path.stem, name), set()), name


@named(WORKFLOWS)
def test_jobs_end(path):
    """The default is six hours."""
    assert all(1 <= job["timeout-minutes"] <= 240 for job in jobs(path).values())


@named(WORKFLOWS)
def test_commands_contain_no_values_of_others(path):
    """A title or branch with shell syntax would run; environment variables do not."""
    assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []


@named(LOCKS)
def test_locked_packages_have_hashes_and_no_host(path):
    text = path.read_text()
    assert not re.search(r"https?:|file:|--(extra-)?index-url|--find-links", text)
    assert "--only-binary :all:" in text.splitlines()
    for package in re.split(r"\n(?=\w)", text)[1:]:
        assert re.match(r"[\w.-]+==[\w.+]+ (; .*)?\\\n    --hash=sha256:[0-9a-f]{64}", package)


@named(LOCKS)
def test_a_lock_names_what_pyproject_asks_for(path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import lock
    from requirements import requirements

    def normal(requirement):
        return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()

    locked = set(re.findall(r"^([\w.-]+)==", path.read_text(), re.MULTILINE))
    wanted = {normal(r) for part in lock.LOCKS[path.stem] for r in requirements(part)}
    assert wanted <= locked
    exact = {r for part in lock.LOCKS[path.stem] for r in requirements(part) if "==" in r}
    assert exact <= set(re.findall(r"^[\w.-]+==[\w.]+", path.read_text(), re.MULTILINE))


def test_every_lock_is_there(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import lock

    assert {path.stem for path in LOCKS} == set(lock.LOCKS)
