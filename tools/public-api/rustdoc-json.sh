#!/bin/sh
# rustdoc that describes a crate as JSON instead of HTML. The format is unstable, so it is tied to the pinned toolchain.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@" -Z unstable-options --output-format json
