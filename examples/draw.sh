#!/usr/bin/env bash
# Draws the pictures of the README and the guide into docs/pictures. Run by `just pictures`.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p docs/pictures
for format in svg png; do
    isochrone exact examples/slippery-maze.txt --slip 0.2 --plot "docs/pictures/slippery-maze.$format" > /dev/null
    isochrone exact examples/teleport-maze.txt --slip 0.1 --plot "docs/pictures/teleport-maze.$format" > /dev/null
    isochrone data inspect examples/walks.csv --observations x,y --plot "docs/pictures/walks.$format" > /dev/null
    isochrone exact examples/orders.csv --goal delivered --plot "docs/pictures/orders.$format" > /dev/null
done
