"""Write orders.csv: a synthetic event log of 400 orders from placement to delivery, with failures and returns.

    python3 examples/make_orders.py > examples/orders.csv
"""

import csv
import datetime
import random
import sys

# For each activity: the possible next activities, their probabilities, and the mean delay in hours.
FLOW = {
    "order placed": [("payment received", 0.90, 2), ("payment failed", 0.10, 1)],
    "payment failed": [("payment received", 0.60, 20), ("order cancelled", 0.40, 48)],
    "payment received": [("stock checked", 1.00, 1)],
    "stock checked": [("picked", 0.80, 6), ("back-ordered", 0.20, 2)],
    "back-ordered": [("stock checked", 0.85, 72), ("order cancelled", 0.15, 96)],
    "picked": [("packed", 0.93, 2), ("item missing", 0.07, 1)],
    "item missing": [("stock checked", 1.00, 5)],
    "packed": [("shipped", 1.00, 8)],
    "shipped": [("delivered", 0.90, 40), ("delivery failed", 0.10, 36)],
    "delivery failed": [("shipped", 0.75, 24), ("returned", 0.25, 72)],
    "delivered": [("returned", 0.08, 120), (None, 0.92, 0)],
    "returned": [("refunded", 1.00, 24)],
    "refunded": [(None, 1.00, 0)],
    "order cancelled": [(None, 1.00, 0)],
}

rng = random.Random(1)
start = datetime.datetime(2024, 3, 1)
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["case_id", "activity", "timestamp"])
for case in range(400):
    time = start + datetime.timedelta(hours=1.7 * case + rng.uniform(0, 5))
    activity = "order placed"
    while activity is not None:
        out.writerow([f"order-{case:04d}", activity, time.strftime("%Y-%m-%d %H:%M")])
        nexts, shares, hours = zip(*FLOW[activity])
        k = rng.choices(range(len(nexts)), shares)[0]
        activity = nexts[k]
        time += datetime.timedelta(hours=rng.expovariate(1 / hours[k]) if hours[k] else 0)
