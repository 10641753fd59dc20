"""Collects the results of the reliability recipes, and writes results.json and README.md.

    python tools/reliability/page.py target/reliability docs/results/reliability
"""

import json
import platform
import re
import subprocess
import sys
from pathlib import Path


def measured(path: Path) -> dict | None:
    """The results of a recipe, if it was run."""
    return json.loads(path.read_text()) if path.exists() else None


def lines(path: Path, pattern: str) -> list[dict[str, str]]:
    """The groups of all lines of a log that match."""
    text = path.read_text() if path.exists() else ""
    return [match.groupdict() for match in re.finditer(pattern, text)]


def numbers(rows: list[dict[str, str]]) -> list[dict[str, object]]:
    number = lambda value: int(value) if value and value.isdigit() else value or "-"  # noqa: E731
    return [{name: number(value) for name, value in row.items()} for row in rows]


def table(rows: list[dict[str, object]], names: dict[str, str]) -> str:
    head = "| " + " | ".join(names.values()) + " |\n|" + "---|" * len(names) + "\n"
    cell = lambda value: f"{value:,}" if isinstance(value, int) else str(value)  # noqa: E731
    return head + "".join("| " + " | ".join(cell(row.get(key, "-")) for key in names) + " |\n" for row in rows)


def total(rows: list[dict[str, object]], name: str) -> str:
    return f"{sum(row.get(name, 0) for row in rows):,}"


def verification_text(results: dict) -> str:
    seconds, share = (sorted(results[name])[1] for name in ["seconds_of_processor_time", "share_of_hash"])
    return f"Comparing {results['rows']:,} rows ({results['bytes'] / 1e9:.1f} GB) with their hash is {100 * share:.0f} % of the {seconds:.1f} seconds of processor time until the first update ends (medians of three)."


def overflow_text(results: dict) -> str:
    def added(checks: str) -> str:
        counts = results["instructions"].items()
        return ", ".join(f"{task} {100 * (count[checks] / count['none'] - 1):+.1f} %" for task, count in counts)

    return (
        f"Releases check arithmetic for overflow in the crates that read files and runs; instructions that this adds: {added('release')}.\n"
        f"In all of our crates it would be: {added('all')} (Valgrind, one thread, {results['rows']:,} rows)."
    )


def hashes_table(hashes: dict) -> str:
    columns = hashes["columns"]
    head = "| algorithm | " + " | ".join(columns) + " |\n|" + "---|" * (1 + len(columns)) + "\n"
    body = ""
    for row in hashes["rows"]:
        body += f"| {row['algorithm']} | " + " | ".join(f"`{row[name]['weights_sha256'][:8]}`" for name in columns) + " |\n"
    return head + body


# What the logs of the recipes have in a line, and the name of the row that it belongs to.
FAULTS = [
    r"(?m)^ *(?P<command>[\w-]+): (?P<changes>\d+) changes, (?P<disks>\d+) different disks$",
    r"(?m)^ *(?P<command>[\w-]+): (?P<failed>\d+) calls failed, (?P<survived>\d+) times it went on$",
    r"(?m)^ *(?P<command>[\w-]+): (?P<killed>\d+) killed, (?P<half_written>\d+) with half-written files$",
]
FLIPS = [
    r"(?m)^ *(?P<file>[\w./-]+): of (?P<flips>\d+) flipped bits (?P<refused>\d+) were refused, (?:(?P<noticed>\d+) changed the hash, )?(?P<equal>\d+) changed nothing$"
]
KILLS = [r"(?m)^ *(?P<line>\d+ killed.*)$"]


def updated(before: list[dict], log: Path, patterns: list[str]) -> list[dict]:
    """The rows before, with those of a log in place of the ones of the same name; each has its revision.

    A row that is not new keeps its revision: the log may be that of an earlier page."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    new = {}
    for pattern in patterns:
        for row in numbers(lines(log, pattern)):
            name = next(iter(row.values()))
            new.setdefault(name, {}).update(row)
    rows = {next(iter(row.values())): row for row in before}
    for name, row in new.items():
        known = rows.get(name, {})
        is_known = known == {**row, "revision": known.get("revision")}
        rows[name] = known if is_known else {**row, "revision": head}
    return list(rows.values())


def committed(path: Path) -> str:
    """The last commit that changed a file."""
    command = ["git", "log", "-1", "--format=%h", "--abbrev=12", "--", path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    logs, out = map(Path, sys.argv[1:3])
    before = measured(out / "results.json") or {}
    known = lambda name, log, patterns: updated(before.get(name, []), logs / log, patterns)  # noqa: E731
    faults, flips = known("faults", "faults.log", FAULTS), known("flips", "flips.log", FLIPS)
    faults = updated(faults, logs / "faults-mpi.log", FAULTS)
    kills = known("kills", "kills.log", KILLS)
    hashes, overflow, soak, verification = (measured(out / f"{name}.json") for name in ["hashes", "overflow", "soak", "verification"])
    results = {"platform": platform.platform(), "faults": faults, "flips": flips, "kills": kills}
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    measured_at = {
        name: ", ".join(sorted({row["revision"][:12] for row in rows}))
        for name, rows in [("faults", faults), ("flips", flips), ("kills", kills)]
    }
    if hashes:
        # Manifests of builds outside of a checkout have no revision; the commit of the table is next to it.
        revision = hashes["rows"][0]["this processor"].get("git_revision")
        measured_at["instruction sets"] = revision[:12] if revision else f"those of commit {committed(out / 'hashes.json')}"
    text = (Path(__file__).parent / "page.in").read_text()
    parts = {
        "FAULTS": table(
            faults,
            {
                "command": "command",
                "changes": "changes of the disk",
                "disks": "different contents after a power failure",
                "failed": "failed calls",
                "survived": "of these it went on",
                "killed": "kills",
                "half_written": "of these with half-written files",
            },
        ),
        "SUM": f"{total(faults, 'changes')} changes, {total(faults, 'disks')} different contents of the disk, {total(faults, 'failed')} failed calls and {total(faults, 'killed')} kills",
        "KILLED_AT_CALLS": f"{total(faults, 'killed')} killed at a system call, {total(faults, 'half_written')} with half-written files",
        "FLIPS": table(flips, {"file": "file", "flips": "flipped bits", "refused": "refused", "noticed": "another content hash", "equal": "nothing changed"}),
        "KILLS": "\n".join(f"- {row['line']}" for row in kills) or "- not run",
        "HASHES": hashes_table(hashes) if hashes else "Not run.\n",
        "OVERFLOW": overflow_text(overflow) if overflow else "Not measured.",
        "SOAK": soak_text(soak) if soak else "Not run.\n",
        "VERIFICATION": verification_text(verification) if verification else "Not measured.",
        "REVISIONS": ", ".join(f"{name} {revision}" for name, revision in measured_at.items()),
    }
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part.rstrip("\n"))
    (out / "README.md").write_text(text)


def soak_text(soak: dict) -> str:
    # Without a minus sign before zero.
    growth = ", ".join(f"{name} {round(value, 2) + 0.0:+.2f}" for name, value in soak["growth_per_hour"].items())
    return (
        f"{soak['minutes']:.0f} minutes: {soak['rounds']:,} rounds, {soak['queries']:,} queries through Python, {soak['scored_rows']:,} rows scored by the command, training all the time.\n"
        f"Growth per hour over the second half: {growth}.\n\n![Memory and file descriptors](soak.svg)\n"
    )


if __name__ == "__main__":
    main()
