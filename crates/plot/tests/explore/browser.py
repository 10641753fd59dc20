"""Tests pages of `isochrone explore` in a headless Chromium.

For every run: makes the page, compares the distances of random pairs in the browser with those of
`isochrone distance`, measures redraws, uses pointer and keyboard, and takes screenshots.

    python3 browser.py target/debug/isochrone target/explore maze=runs/maze robot=runs/robot
"""

import argparse
import csv
import json
import math
import os
import platform
import random
import subprocess
import sys

from chromium import Chromium

TOLERANCE = 0.005
MIN_FRAMES_PER_SECOND = 30
MAX_BYTES = 5_000_000
REDRAWS = 100

MEASURE = """(async () => {
  const { names, show } = window.isochrone, n = names().length, script = [];
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  const start = performance.now();
  for (let k = 0; k < %d; k++) {
    const before = performance.now();
    show((k * 7919) %% n);
    script.push(performance.now() - before);
    await frame();
  }
  const seconds = (performance.now() - start) / 1000;
  script.sort((a, b) => a - b);
  return { fps: %d / seconds, median: script[script.length >> 1], largest: script[script.length - 1] };
})()"""

LONG_PATH = """(() => {
  const { names, distance } = window.isochrone, all = names();
  let best = [0, 0, 0];
  for (let k = 0; k < 400; k++) {
    const [from, to] = [(k * 7919) % all.length, (k * 104729 + 37) % all.length];
    const steps = distance(from, to);
    if (Number.isFinite(steps) && steps > best[0]) best = [steps, from, to];
  }
  return [all[best[1]], all[best[2]]];
})()"""


def fail(text):
    sys.exit(f"error: {text}")


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def difference(browser, command):
    """Returns the relative difference of two distances; infinite if only one is finite."""
    if browser is None or command is None:
        return 0.0 if browser is None and command is None else math.inf
    return abs(browser - command) / max(command, 1e-9) if browser != command else 0.0


def compare(browser, program, folder, path, pairs, seed):
    """Compares random pairs with the command; returns the largest relative difference."""
    names = browser.evaluate("window.isochrone.names()")
    draw = random.Random(seed)
    chosen = [(draw.randrange(len(names)), draw.randrange(len(names))) for _ in range(pairs)]
    script = f"{json.dumps(chosen)}.map(([from, to]) => window.isochrone.distance(from, to))"
    found = browser.evaluate(f"{script}.map((steps) => Number.isFinite(steps) ? steps : null)")
    table = os.path.join(folder, "pairs.csv")
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["from", "to"])
        writer.writerows((names[a], names[b]) for a, b in chosen)
    rows = json.loads(run(program, "distance", path, "--pairs", table, "--json"))["rows"]
    expected = [row["steps"] for row in rows]
    differences = [difference(*both) for both in zip(found, expected, strict=True)]
    unreachable = sum(steps is None for steps in expected)
    return len(names), max(differences), unreachable


def compare_fields(browser, count):
    """Checks that the colors of the map are the distances of single pairs."""
    return browser.evaluate(f"""(() => {{
      const {{ names, distance, field }} = window.isochrone, n = names().length;
      let different = 0;
      for (let k = 0; k < {count}; k++) {{
        const one = (k * 3571) % n;
        const to = field(one, true), from = field(one, false);
        for (let other = 0; other < n; other++) {{
          different += to[other] !== distance(other, one);
          different += from[other] !== distance(one, other);
        }}
      }}
      return different;
    }})()""")


def box(browser, identifier):
    return browser.evaluate(f"""(() => {{
      const {{ x, y, width, height }} = document.getElementById("{identifier}").getBoundingClientRect();
      return [x, y, width, height];
    }})()""")


def text(browser, identifier):
    return browser.evaluate(f'document.getElementById("{identifier}").textContent')


def use(browser):
    """Uses the page with pointer and keyboard; returns what does not respond."""
    x, y, width, height = box(browser, "map")
    missing = []
    browser.mouse(x + 0.4 * width, y + 0.4 * height)
    before = text(browser, "status")
    browser.mouse(x + 0.7 * width, y + 0.6 * height)
    if text(browser, "status") == before:
        missing.append("the pointer chooses no state")
    browser.evaluate('document.getElementById("map").focus()')
    before = text(browser, "status")
    browser.key("ArrowLeft", 37)
    if text(browser, "status") == before:
        missing.append("an arrow key chooses no state")
    browser.key("Enter", 13, "\r")
    for _ in range(12):
        browser.key("ArrowLeft", 37)
    browser.key("Enter", 13, "\r")
    if "From @" not in text(browser, "status"):
        missing.append("Enter sets no start and goal")
    browser.key("d", 68, "d")
    if not browser.evaluate('document.querySelector("input[value=from]").checked'):
        missing.append("d does not change the direction")
    browser.key("d", 68, "d")
    browser.key("Escape", 27)
    if "From @" in text(browser, "status"):
        missing.append("Esc does not clear the path")
    x, y, width, height = box(browser, "timelines")
    browser.mouse(x + 0.5 * width, y + 40)
    first = text(browser, "status")
    browser.mouse(x + 0.3 * width, y + 100)
    if text(browser, "status") == first:
        missing.append("timelines do not respond")
    return missing


def screenshots(browser, folder, name):
    def save(kind):
        browser.screenshot(os.path.join(folder, f"{name}-{kind}.png"))

    x, y, width, height = box(browser, "map")
    browser.evaluate("document.activeElement.blur()")
    browser.mouse(x + 0.35 * width, y + 0.4 * height)
    save("light")
    # A long path, so that its shape can be seen.
    for state in browser.evaluate(LONG_PATH):
        browser.evaluate(f"""(() => {{
          const input = document.getElementById("state");
          input.value = "{state}";
          input.dispatchEvent(new Event("change"));
          document.getElementById("pin").click();
        }})()""")
    # The outline of the focus belongs to the keyboard.
    browser.evaluate("document.activeElement.blur()")
    browser.frames(2)
    save("path")
    browser.resize(1400, 900, "dark")
    save("dark")
    browser.evaluate('document.getElementById("clear").click()')
    browser.resize(420, 860)
    save("narrow")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("isochrone")
    parser.add_argument("folder", help="for pages and screenshots")
    parser.add_argument("runs", nargs="+", help="NAME=RUN, or NAME=RUN=FLAG=VALUE for layers")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", help="JSON file to write")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    pages, problems = [], []
    for case in args.runs:
        name, path, *flags = case.split("=")
        page = os.path.join(args.folder, f"{name}.html")
        facts = json.loads(run(args.isochrone, "explore", path, "-o", page, "--force", "--json", *flags))
        with Chromium() as browser:
            version = browser.call("Browser.getVersion")["product"]
            browser.resize(1400, 900)
            seconds = browser.open(page)
            compared = compare(browser, args.isochrone, args.folder, path, args.pairs, args.seed)
            states, largest, unreachable = compared
            fields = compare_fields(browser, 5)
            # Without a GPU, other processes compete with the browser for the cores.
            load = os.getloadavg()[0]
            to = browser.evaluate(MEASURE % (REDRAWS, REDRAWS))
            browser.evaluate('window.isochrone.setMode("from")')
            back = browser.evaluate(MEASURE % (REDRAWS, REDRAWS))
            browser.evaluate('window.isochrone.setMode("to")')
            problems += [f"{name}: {problem}" for problem in use(browser)]
            screenshots(browser, args.folder, name)
            problems += [f"{name}: {problem}" for problem in browser.problems()]
        result = {
            "name": name, "data_sha256": facts["data_sha256"], "bytes": os.path.getsize(page),
            "states": states, "landmarks": facts["rows"][0]["landmarks"],
            "edges": facts["rows"][0]["edges"], "pairs": args.pairs, "pairs_without_path": unreachable,
            "largest_relative_difference": largest, "different_field_values": fields,
            "seconds_until_ready": round(seconds, 2),
            "frames_per_second_to": round(to["fps"], 1), "frames_per_second_from": round(back["fps"], 1),
            "load_average": round(load, 1),
            "median_script_milliseconds": round(max(to["median"], back["median"]), 1),
        }
        pages.append(result)
        print(json.dumps(result, indent=2))
        if result["bytes"] >= MAX_BYTES:
            problems.append(f"{name}: {result['bytes']} bytes")
        if largest > TOLERANCE or fields:
            problems.append(f"{name}: distances differ by {largest}, {fields} values of maps")
        if min(to["fps"], back["fps"]) < MIN_FRAMES_PER_SECOND:
            problems.append(f"{name}: {to['fps']:.1f} and {back['fps']:.1f} frames per second")
    if args.results:
        results = {
            "command": "just test-explore", "version": facts["version"], "browser": version,
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "seed": args.seed, "redraws": REDRAWS, "pages": pages,
        }
        with open(args.results, "w") as file:
            json.dump(results, file, indent=2)
            file.write("\n")
    if problems:
        fail("; ".join(problems))


if __name__ == "__main__":
    main()
