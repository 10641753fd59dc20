"""Settings of one training run, and the arguments of `isochrone train` that mean the same."""

from __future__ import annotations

import dataclasses
import hashlib
import json

METHODS = ("crl", "qrl", "cmd1")
# Width, depth, activation and normalization of `isochrone train --size`, and the components of MRN.
PRESETS = {
    "small": (64, 2, "gelu", True, 8),
    "standard": (256, 3, "gelu", True, 8),
    "paper": (512, 4, "relu", False, 1),
}
# Weights of behavior cloning: those of OGBench in pointmaze-medium-navigate; CMD-1 has that of CRL.
BC_WEIGHTS = {"crl": 0.03, "qrl": 0.0003, "cmd1": 0.03}
ALGORITHMS = {"crl": "crl-nce", "qrl": "qrl", "cmd1": "cmd1"}


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that decides what is learned; both sides read it."""

    method: str
    preset: str
    batch_size: int = 256
    seed: int = 0
    discount: float = 0.99
    learning_rate: float = 3e-4
    state_only_fraction: float = 0.5
    push_offset: float = 500.0
    push_beta: float = 0.01
    dual_margin: float = 0.0025
    dual_learning_rate: float = 0.01
    dual_initial: float = 1.0
    dual_floor: float = 0.01
    group_width: int = 8

    @property
    def width(self) -> int:
        return PRESETS[self.preset][0]

    @property
    def depth(self) -> int:
        return PRESETS[self.preset][1]

    @property
    def activation(self) -> str:
        return PRESETS[self.preset][2]

    @property
    def layer_norm(self) -> bool:
        return PRESETS[self.preset][3]

    @property
    def components(self) -> int:
        return PRESETS[self.preset][4]

    @property
    def bc_weight(self) -> float:
        return BC_WEIGHTS[self.method]

    @property
    def name(self) -> str:
        return f"{self.method}-{self.preset}-{self.batch_size}-{self.seed}"

    def hash(self) -> str:
        values = {**dataclasses.asdict(self), "network": PRESETS[self.preset], "bc_weight": self.bc_weight}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]

    def isochrone_arguments(self) -> list[str]:
        """Return the arguments of `isochrone train`, with every setting that the presets do not fix."""
        values = {
            "batch_size": self.batch_size,
            "discount": self.discount,
            "data.rows_per_episode": 1,
            "learner.critic_optimizer.learning_rate": self.learning_rate,
            "learner.policy.optimizer.learning_rate": self.learning_rate,
            "learner.extraction.bc_weight": self.bc_weight,
        }
        if self.method == "qrl":
            values |= {
                "learner.push_offset": self.push_offset,
                "learner.push_beta": self.push_beta,
                "learner.constraint.margin": self.dual_margin,
                "learner.constraint.learning_rate": self.dual_learning_rate,
                "learner.constraint.initial": self.dual_initial,
                "learner.constraint.floor": self.dual_floor,
                "learner.critic.head.group_width": self.group_width,
            }
        else:
            values["learner.state_only_fraction"] = self.state_only_fraction
        if self.method == "cmd1":
            values["learner.critic.head.components"] = self.components
        flags = ["--algorithm", ALGORITHMS[self.method], "--size", self.preset, "--seed", str(self.seed)]
        return flags + [f"{name}={value}" for name, value in values.items()]
