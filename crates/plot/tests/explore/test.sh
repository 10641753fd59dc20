#!/usr/bin/env bash
# Trains short runs on a maze and, if given, on robot data, and tests their pages in Chromium.
# The refined distance does not depend on the training, which is therefore short.
set -euo pipefail
isochrone=$1 folder=$2 results=$3 maze=$4 robot=${5:-}
mkdir -p "$folder"
cases=()
for case in "maze=$maze" "robot=$robot"; do
    name=${case%%=*} data=${case#*=}
    [ -n "$data" ] || continue
    [ -e "$folder/runs/$name" ] || "$isochrone" train --data "$data" --size small --steps 20 --run "$folder/runs/$name"
    cases+=("$name=$folder/runs/$name")
done
python3 "$(dirname "$0")/browser.py" "$isochrone" "$folder" "${cases[@]}" --results "$results"
