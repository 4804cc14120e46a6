"""Experiments by name: presets, users' own files, other systems, changes to single fields."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from supra.domain.choice import check_choice, guess
from supra.experiment.config import FIRST_KINDS, Experiment
from supra.experiment.errors import ConfigError

Scale = Literal["smoke", "small", "paper"]
SUPRA = "supra"  # the presets' own network
_BASE = "base"


def preset_names() -> list[str]:
    """Names of the presets that come with the package."""
    return _names("presets")


def system_names() -> list[str]:
    """Names of the networks with recipes that come with the package."""
    return [SUPRA, *_names("systems")]


def load_experiment(
    source: str, scale: Scale = "small", changes: Sequence[str] = (), system: str = SUPRA
) -> Experiment:
    """A preset's or a YAML file's experiment at a scale, with changes such as ``model.width=64``.

    A file either holds one experiment, or a part ``base`` and parts named after scales that say
    what is different there.

    Args:
        source: name of a preset, or a file.
        scale: how large.
        changes: the last word.
        system: another network for the same data, with its published recipe.
    """
    content = _read(source)
    if _BASE in content:
        if scale not in content:
            known = ", ".join(key for key in content if key != _BASE)
            raise ConfigError(f"{source!r} has no scale {scale!r}; it has: {known}.")
        content = merged(content[_BASE] or {}, content[scale] or {})
    content = merged(content, recipe(system, scale, source))
    for change in changes:
        content = merged(content, _nested(change))
    return parse_experiment(content, source)


def recipe(system: str, scale: Scale = "small", problem: str = "") -> dict[str, Any]:
    """What a system has otherwise: everywhere, at a scale, for a problem, for both."""
    check_choice("model", system, system_names(), ConfigError)
    if system == SUPRA:
        return {}
    name = f"{system}.yaml"
    known = read_yaml((files("supra.experiment") / "systems" / name).read_text(), name)
    content: dict[str, Any] = {}
    for part in (_BASE, scale, problem, f"{problem}-{scale}"):
        content = merged(content, known.get(part, {}))
    return content


def parse_experiment(content: Mapping[str, Any], source: str) -> Experiment:
    """The experiment with these values, or a message that names the first wrong one."""
    try:
        return Experiment.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{source}: {_explained(error)}") from None


def field_names(model: type[BaseModel] = Experiment, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of an experiment with its dotted name, those of all kinds of a part included."""
    for name, field in model.model_fields.items():
        inside = _models(field.annotation)
        if name == "kind":  # which part this is: the part itself says what that means
            yield prefix + name, FieldInfo(default=field.default, description=model.__doc__)
        elif not inside:
            yield prefix + name, field
        for kind in inside:
            yield from field_names(kind, f"{prefix}{name}.")


def literals(annotation: Any) -> list[Any]:
    """The words that a field allows, if they are listed."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [word for part in get_args(annotation) for word in literals(part)]


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _names(folder: str) -> list[str]:
    entries = (files("supra.experiment") / folder).iterdir()
    return sorted(entry.name[:-5] for entry in entries if entry.name.endswith(".yaml"))


def _read(source: str) -> dict[str, Any]:
    path = Path(source)
    if source in preset_names():
        text = (files("supra.experiment") / "presets" / f"{source}.yaml").read_text()
    elif path.suffix in (".yaml", ".yml") and path.exists():
        text = path.read_text()
    else:
        raise ConfigError(
            f"{source!r} is neither a preset ({', '.join(preset_names())}) nor a YAML file that "
            f"exists.{guess(source, preset_names())}"
        )
    return read_yaml(text, source)


def read_yaml(text: str, source: str) -> dict[str, Any]:
    """A table of fields."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{source}: an experiment is a table of fields: got {content!r}.")
    return content


def _nested(change: str) -> dict[str, Any]:
    """``a.b=1`` as ``{"a": {"b": 1}}``."""
    name, equals, text = change.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"A change is written field=value, e.g. model.width=64: got {change!r}.")
    try:
        value: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    for key in reversed(name.strip().split(".")):
        value = {key: value}
    return value


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of ``changes`` over those of ``base``; another ``kind`` starts afresh."""
    result = dict(base)
    for key, value in changes.items():
        before = result.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            first = before.get("kind", FIRST_KINDS.get(key))
            other_kind = "kind" in value and value["kind"] != first
            result[key] = dict(value) if other_kind else merged(before, value)
        else:
            result[key] = value
    return result


def _explained(error: ValidationError) -> str:
    """The first thing wrong, in one line."""
    first = error.errors()[0]
    name = _field_name([str(part) for part in first["loc"]])
    if first["type"] == "extra_forbidden":
        known = [known for known, _ in field_names()]
        if name in known:  # of another kind of this part
            part, kind = first["loc"][:2]
            return f"{part}.kind={kind} has no field {name!r}. `supra schema` lists all."
        return (
            f"there is no field {name!r}.{guess(name, known, cutoff=0.5)} `supra schema` lists all."
        )
    if first["type"] == "union_tag_invalid":
        tag, kinds = first["ctx"]["tag"], first["ctx"]["expected_tags"].replace("'", "")
        return f"{name}.kind: {tag!r} is none of {kinds}."
    if first["type"] == "missing":
        return f"the field {name!r} is required."
    return f"{name}: {first['msg']} (got {first['input']!r})."


def _field_name(location: list[str]) -> str:
    """The dotted name; pydantic puts the kind of a part after the part's name."""
    field = Experiment.model_fields.get(location[0])
    if field is not None and field.discriminator and len(location) > 1:
        del location[1]
    return ".".join(location)
