#!/bin/sh
# Runs rustdoc with JSON instead of HTML output. The format is unstable and tied to the pinned toolchain.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@" -Z unstable-options --output-format json
