"""Write walks.csv, trajectories of a walker around a wall to a door, and walks-broken.csv, the same with typical defects of real logs."""

import math
import random

random.seed(7)
HEADER = "episode,time,x,y,action_x,action_y"
WAYPOINTS = [(8.0, 2.0), (8.0, 6.0), (2.0, 6.0)]  # around the end of a wall, to the door


def walk(number):
    x, y = random.uniform(0, 4), random.uniform(0, 3)
    goals = [(gx + random.gauss(0, 0.3), gy + random.gauss(0, 0.3)) for gx, gy in WAYPOINTS]
    rows, speed = [], random.uniform(0.25, 0.45)
    while goals:
        dx, dy = goals[0][0] - x, goals[0][1] - y
        length = math.hypot(dx, dy)
        if length < speed:
            goals.pop(0)
            continue
        ax = max(-1, min(1, 0.9 * dx / length + random.gauss(0, 0.25)))
        ay = max(-1, min(1, 0.9 * dy / length + random.gauss(0, 0.25)))
        rows.append([number, len(rows) / 10, x, y, ax, ay])
        x, y = x + speed * ax, y + speed * ay
    rows.append([number, len(rows) / 10, x, y, None, None])  # the last state has no action
    return rows


def write(name, walks):
    with open(name, "w") as file:
        file.write(HEADER + "\n")
        for row in (row for walk in walks for row in walk):
            file.write(f"{row[0]},{row[1]:.1f}," + ",".join("" if v is None else f"{v:.3f}" for v in row[2:]) + "\n")


walks = [walk(number) for number in range(24)]
write("walks.csv", walks)

broken = [[list(row) for row in walk] for walk in walks[:8]]
broken[1][5][3] = float("nan")  # a sensor dropout
broken[2][9][4] = 1.7  # an unclipped action
for row in broken[3][12:]:
    row[1] += 0.8  # dropped frames
for row in broken[4][15:]:
    row[2] += 30  # a position reset
broken.append([[98] + row[1:] for row in broken[6]])  # a duplicated episode
broken.append([[99, 0.0, 1.0, 1.0, None, None]])  # an episode without transitions
write("walks-broken.csv", broken)
