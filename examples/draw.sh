#!/usr/bin/env bash
# Draws the figures of the README and the guides into docs/figures. Run by `just figures`.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p docs/figures
for format in svg png; do
    isochrone exact examples/slippery-maze.txt --slip 0.2 --plot "docs/figures/slippery-maze.$format" > /dev/null
    isochrone exact examples/teleport-maze.txt --slip 0.1 --plot "docs/figures/teleport-maze.$format" > /dev/null
    isochrone data inspect examples/walks.csv --observations x,y --plot "docs/figures/walks.$format" > /dev/null
    isochrone exact examples/orders.csv --goal delivered --plot "docs/figures/orders.$format" > /dev/null
done
