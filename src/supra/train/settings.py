"""How a network is trained."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """Values that do not change and know no other names than their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LossSettings(Settings):
    """What is minimised: a weighted sum of relative errors."""

    l2: float = Field(1.0, ge=0, description="weight of the relative L2 error")
    h1: float = Field(0.0, ge=0, description="weight of the relative error of the gradient")


class TrainSettings(Settings):
    """Optimiser, schedule, and what else happens in an epoch."""

    epochs: int = Field(100, ge=1, description="passes over the training set")
    batch_size: int = Field(8, ge=1, description="samples per step, over all processes")
    optimizer: Literal["adamw", "muon"] = Field(
        "muon", description="muon: for the matrices inside the blocks, AdamW for all else"
    )
    learning_rate: float = Field(3e-3, gt=0, description="largest learning rate")
    weight_decay: float = Field(1e-5, ge=0, description="decay of the weights per unit of rate")
    betas: tuple[float, float] = Field((0.9, 0.999), description="memory of AdamW's averages")
    schedule: Literal["onecycle", "cosine", "constant"] = Field(
        "onecycle", description="learning rate over time; cosine has no warm-up"
    )
    warmup: float = Field(0.3, ge=0, lt=1, description="part of a onecycle spent rising")
    clip: float = Field(1.0, ge=0, description="largest norm of the gradient; 0: no limit")
    loss: LossSettings = Field(default_factory=LossSettings, description="what is minimised")
    average: float = Field(
        0.0, ge=0, lt=1, description="decay of an exponential moving average of weights; 0: none"
    )
    patience: int = Field(
        0, ge=0, description="stop after so many epochs without a better validation error; 0: never"
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="precision of matrix products (autocast)"
    )
    unroll: int = Field(1, ge=1, description="steps of a rollout that a training sample covers")
    noise: float = Field(
        0.0, ge=0, description="noise on past states, in units of their spread; steadies rollouts"
    )
    symmetry: Literal["none", "flips", "square", "torus"] = Field(
        "none", description="random symmetry of each training sample, if its equation has it"
    )
    workers: int = Field(0, ge=0, description="processes that read samples ahead")
