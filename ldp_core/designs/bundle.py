"""A design as one zip file: configuration.json, outcome.json and, for optimised mechanisms, the files of the mechanism: strategy.npz,
or patterns.json (see `patterns_file`) with strategies.npz. A kit
(`ldp_core.deploy.kit.package`) has more files in it, which draw and count reports; a proof of what no mechanism can beat may be in either
(`certificate_file`).

An imported file is untrusted: sizes are bounded before anything is unpacked, and nothing is
unpickled. A strategy is accepted only if its probabilities, as an exact table, keep the epsilon of
the configuration. Its digest protects against accidents, not against somebody who swaps it and
computes the digest again: a loaded strategy is never called our own result.
"""

import dataclasses
import hashlib
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from ldp_core import limits
from ldp_core.designs import certificate_file, patterns_file, strict_json, zips
from ldp_core.designs.certificate_file import ARRAYS, DOCUMENT, Written
from ldp_core.designs.configuration import Configuration, load_configuration
from ldp_core.designs.reveals import observed_parts
from ldp_core.library import unsearched
from ldp_core.limits import MOST_DESIGN_BYTES, MOST_KIT_BYTES, MOST_PROOF_BYTES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms import Mechanism, OnClasses
from ldp_core.mechanisms.files import PATTERNS, STRATEGIES, STRATEGY, MechanismFile
from ldp_core.mechanisms.strata import InStrata
from ldp_core.mechanisms.surveys.strata import in_strata
from ldp_core.optimize.strategy import from_strategy
from ldp_core.version import __version__
from ldp_core.wording import listed, rounded_up
from ldp_core.workloads import Strata
from ldp_core.workloads.strata import secret_of

CONFIGURATION = "configuration.json"
OUTCOME = "outcome.json"
MEMBERS = (CONFIGURATION, OUTCOME, STRATEGY, PATTERNS, STRATEGIES)
DEVICE = "device.json"
KIT = (
    DEVICE,
    *("client.py", "client.js", "audit.py", "collect.py", "count.sql", "vectors.json", "README.md", "report.html"),
    *("form.html", "answers.cjs", "people.txt"),
)
"""Further members of a kit: only the first is read when it is loaded."""
PROOF = certificate_file.MEMBERS
TABLE = ("strategy", "prior", "classes")
LACKS_STRATEGY = "The file lacks the strategy of its mechanism: optimise again, with the same seed, to get it."
SEED_WARNING = "The seed is for simulation and optimisation only; a client that used it would have no privacy."


@dataclasses.dataclass(frozen=True, eq=False)
class Bundle:
    """An imported design. `outcome` is what the file says, for display only; `mechanism` is built from the files of its fitted part,
    which were verified. `device` is the device.json of a kit, known only by its
    recorded digest; `certificate` are files of a proof, unchecked until `certificate_file.read` has
    checked them for a workload.

    `warnings` are sentences about what is missing or does not belong together.
    """

    configuration: Configuration
    outcome: dict[str, Any] | None
    mechanism: Mechanism | None
    warnings: list[str]
    device: bytes | None = None
    certificate: Written | None = None

    @property
    def recorded_parameters(self) -> dict[str, Any] | None:
        """What the outcome says of the mechanism that a fit came to; None where it says nothing."""
        return _recorded_parameters(self.outcome)


def export(
    configuration: Configuration,
    outcome: dict[str, Any],
    mechanism: Mechanism | None = None,
    kit: Mapping[str, bytes] | None = None,
    certificate: Written | None = None,
) -> bytes:
    """The zip file of a design; the same design gives the same bytes.

    `outcome` holds results (expected errors, audit): numbers, texts, lists, dicts, dataclasses and numpy values; NaN
    and infinities become null. `disclosure` decides which figures of counted people may be in it.
    Software versions, digest and warnings are added to it. The files of `mechanism` go with the design. `kit` are
    files named in `KIT` to go with the design, `certificate` those of a proof.

    ValueError, one sentence, if the mechanism does not keep the configuration's epsilon, or if `load` would refuse the file.
    """
    configuration.check_size()
    record: dict[str, Any] = {
        **strict_json.plain(outcome, "outcome"),
        "configuration_digest": configuration.digest(),
        "read_off_the_data": outcome.get("read_off_the_data", observed_parts(configuration)),
        "simulation_seed_warning": SEED_WARNING,
        "software": software(),
        "strategy": None,
    }
    members = {CONFIGURATION: configuration.to_json()}
    if mechanism is not None:
        _check_mechanism(mechanism, configuration)
        for file, content in _written(mechanism):
            members[file.name] = content
            facts = strict_json.plain(dict(file.facts), file.name)
            record[file.entry] = {"file": file.name, "sha256": hashlib.sha256(content).hexdigest(), **facts}
    if kit:
        if strangers := sorted(set(kit) - set(KIT)):
            raise ValueError(f"A kit holds no {strangers[0]}: only {', '.join(KIT)}.")
        if sum(map(len, kit.values())) > MOST_KIT_BYTES:
            raise ValueError(
                f"The kit would take more than {MOST_KIT_BYTES // 10**6} MB, too much for people's devices: use coarser bins."
            )
        record["kit"] = digests(kit)
        members.update(kit)
    if certificate is not None:
        record["certificate"] = digests(certificate.members)
        members.update(certificate.members)
    members[OUTCOME] = strict_json.write(record, pretty=True) + b"\n"
    if len(members[OUTCOME]) > limits.MOST_JSON_BYTES:
        raise ValueError(
            f"{OUTCOME} would have {len(members[OUTCOME]):,} bytes, too many to load again: leave out detail."
        )
    return zips.zipped(members)  # deflated, which also hides the end mark of the npz, itself a zip


def load(content: bytes) -> Bundle:
    """Import an exported zip, or a bare configuration.json.

    ValueError, one sentence to show, for a file or a configuration that cannot be used.
    """
    if len(content) > MOST_DESIGN_BYTES:
        raise ValueError(f"The file is too large to be a design: at most {MOST_DESIGN_BYTES // 10**6} MB are read.")
    if not content.startswith(b"PK"):
        configuration = load_configuration(content)
        return Bundle(configuration, None, None, _warnings(configuration, None, False))
    members = zips.unzipped(content, (*MEMBERS, *KIT, *PROOF))
    if CONFIGURATION not in members:
        raise ValueError(f"The zip holds no {CONFIGURATION}: choose a file that was exported from here.")
    configuration = load_configuration(members[CONFIGURATION])
    outcome = strict_json.read(members[OUTCOME], OUTCOME) if OUTCOME in members else None
    if OUTCOME in members and not isinstance(outcome, dict):
        raise ValueError(f"{OUTCOME} must be a JSON object in braces: export the design again.")
    if DEVICE in members and outcome is None:
        raise ValueError(f"The kit lacks {OUTCOME}, which records its files: put it back, or export the kit again.")
    if DEVICE in members:
        _check_recorded(DEVICE, members[DEVICE], outcome or {}, "kit", DEVICE)
    for file, entry in ((STRATEGY, "strategy"), (PATTERNS, "strategy"), (STRATEGIES, "strategies")):
        if outcome is not None and file in members and (file != STRATEGIES or PATTERNS in members):
            _check_recorded(file, members[file], outcome, entry, "sha256")
    mechanism = _mechanism(members, configuration, outcome or {})
    warnings = _warnings(configuration, outcome, mechanism is not None)
    if changed := _changed(members, outcome or {}):
        warnings.append(f"Since this file was exported, {changed}: export it again before anyone uses these files.")
    return Bundle(configuration, outcome, mechanism, warnings, members.get(DEVICE), _proof(members))


def _proof(members: Mapping[str, bytes]) -> Written | None:
    """The files of a proof, if they are there and not too large."""
    if (DOCUMENT in members) != (ARRAYS in members):
        raise ValueError(f"A proof is {DOCUMENT} and {ARRAYS} together, and one is missing: export the design again.")
    if DOCUMENT not in members:
        return None
    if len(members[ARRAYS]) > MOST_PROOF_BYTES:
        raise ValueError(f"{ARRAYS} is too large for a proof: at most {MOST_PROOF_BYTES // 10**6} MB are read.")
    return Written(members[DOCUMENT], members[ARRAYS])


def _warnings(configuration: Configuration, outcome: dict[str, Any] | None, fitted: bool) -> list[str]:
    warnings = []
    if outcome is not None and outcome.get("configuration_digest") != configuration.digest():
        warnings.append(
            "The recorded outcome belongs to other inputs than this configuration, which was changed after it was "
            "computed: compute it again."
        )
    if fitted and outcome is None:
        warnings.append(
            f"The file has no {OUTCOME} to compare the strategy with; the strategy was checked against epsilon only."
        )
    return warnings


def _written(mechanism: Mechanism) -> list[tuple[MechanismFile, bytes]]:
    """The files of a mechanism with their bytes. ValueError where they would be too large to load again."""
    written = []
    for file in mechanism.files():
        members = file.content()
        content = zips.npz(members) if file.name.endswith(".npz") else strict_json.write(members) + b"\n"
        if file.name.endswith(".json") and len(content) > limits.MOST_JSON_BYTES:
            raise ValueError(
                f"{file.name} would take {len(content) / 1e6:.1f} MB, and at most {limits.MOST_JSON_BYTES / 1e6:g} MB are read "
                "again: ask about fewer sets of columns, or use coarser bins."
            )
        written.append((file, content))
    return written


def _mechanism(
    members: Mapping[str, bytes], configuration: Configuration, outcome: Mapping[str, Any]
) -> Mechanism | None:
    """The mechanism whose files a design holds, if it fits the domain and keeps epsilon by its own probabilities; None without files."""
    strata = _strata(configuration)
    if PATTERNS in members and (strata is not None or STRATEGY not in members):
        mechanism: Mechanism = _of_patterns(strata, members, configuration)
    elif STRATEGY not in members:
        return None
    elif strata is not None:
        mechanism = _in_strata(strata, members[STRATEGY], configuration, outcome)
    else:
        mechanism = _of_table(_read_strategy(members[STRATEGY]), configuration, _recorded_parameters(outcome))
    _check_mechanism(mechanism, configuration)
    return mechanism


def _strata(configuration: Configuration) -> Strata | None:
    """The groups that the collector knows, where it knows any."""
    domain, recipe = configuration.domain, configuration.workload
    if domain is None or recipe is None or not any(attribute.known for attribute in domain.attributes):
        return None
    return recipe.build(domain).strata


def _in_strata(strata: Strata, content: bytes, configuration: Configuration, outcome: Mapping[str, Any]) -> InStrata:
    """The mechanism of the groups, from the tables in a file: one for all groups, or each different one under its number, as many as there are
    parameters recorded. One without a table is a closed form."""
    recorded, count = _recorded(outcome, "strategy", "parameters"), len(strata.which)
    designs = recorded if isinstance(recorded, list) else [_recorded_parameters(outcome)]
    arrays = _read_strategy(content, min(len(designs), count))
    which = np.zeros(count) if len(designs) == 1 else arrays.get("which", np.zeros(0))
    _check_which(which, strata, len(designs))
    drawn = list[Mechanism]()
    for k, parameters in enumerate(designs):
        if len(designs) == 1 or f"strategy{k or ''}" in arrays:
            drawn.append(_of_table(arrays, configuration, parameters, k))
            continue
        questions = strata.designs[strata.which[which.tolist().index(k)]]
        made = unsearched(configuration.mechanism.name, configuration.epsilon_value, questions, recorded=parameters)
        if made is None:
            raise ValueError(LACKS_STRATEGY)
        drawn.append(made)
    if (n := max(made.n for made in drawn)) != (m := strata.size):
        raise ValueError(
            f"The strategy is for {n:,} types, and each group that the collector knows has {m:,}: optimise again."
        )
    return in_strata(drawn, which, strata, drawn[0].parameters)


def _of_patterns(strata: Strata | None, members: Mapping[str, bytes], configuration: Configuration) -> Mechanism:
    """The mechanism of the patterns of one design for everybody, or for all groups that the collector knows, or of several."""
    groups = 1 if strata is None else len(strata.which)
    strategies = _read_strategies(members[STRATEGIES], groups) if STRATEGIES in members else []
    drawn, which = patterns_file.read(members[PATTERNS], configuration.mechanism.name, strategies)
    if strata is None:
        if which is not None:
            raise ValueError("The file of patterns is of groups that the collector knows: export the design again.")
        return drawn[0]
    design_of = np.zeros(groups) if which is None else np.array(which)
    _check_which(design_of, strata, len(drawn))
    sizes = [strata.shape[i] for i in secret_of(strata.shape, strata.known)]
    if other := next((made for made in drawn if not made.fits(sizes)), None):
        raise ValueError(
            f"The patterns are for columns of {list(other.sizes)} values, and those that the collector does not know have {sizes}: optimise again."
        )
    return in_strata(drawn, design_of, strata, drawn[0].parameters)


def _check_which(which: np.ndarray, strata: Strata, designs: int) -> None:
    """ValueError unless ``which`` (K,) gives each of the strata one of so many ``designs``, and uses all."""
    if which.shape != strata.which.shape or {*which.tolist()} != {*range(designs)}:
        raise ValueError(
            "The file holds the designs of other groups than those that the collector knows: optimise again."
        )


def _of_table(
    arrays: Mapping[str, np.ndarray], configuration: Configuration, parameters: object, k: int = 0
) -> Mechanism:
    """The mechanism with the ``k``-th strategy of a file."""
    strategy, prior, classes = (arrays.get(f"{part}{k or ''}") for part in TABLE)
    recorded = parameters if isinstance(parameters, dict) else {}
    assert strategy is not None
    try:
        name, epsilon = configuration.mechanism.name, configuration.epsilon_value
        secret = secret_types(configuration) if name == "optimized" else None
        made = from_strategy(name, strategy, epsilon, recorded, prior, loaded=True, secret=secret)
        return made if classes is None else OnClasses(made, classes)
    except ValueError as error:
        raise ValueError(f"The strategy cannot be used. {error} Optimise again or export again.") from None


def secret_types(configuration: Configuration) -> np.ndarray | None:
    """(m,) which types that reports are about are secret, in each of the groups that the collector knows; None where all are."""
    domain, recipe = configuration.domain, configuration.workload
    if domain is None or recipe is None or not any(attribute.secret_types for attribute in domain.attributes):
        return None
    workload = recipe.build(domain)
    within = workload if workload.strata is None else workload.strata.designs[0]
    return None if within.all_secret is within else within.secret


def _recorded(outcome: object, *path: str) -> Any:
    """What the outcome of an untrusted file says at a path; None where it says nothing there."""
    for name in path:
        outcome = outcome.get(name) if isinstance(outcome, dict) else None
    return outcome


def _recorded_parameters(outcome: object) -> dict[str, Any] | None:
    """The file's record of how its strategy was fitted."""
    parameters = _recorded(outcome, "mechanism", "parameters")
    return parameters if isinstance(parameters, dict) else None


def _check_mechanism(mechanism: Mechanism, configuration: Configuration) -> None:
    """ValueError unless the mechanism fits the domain, and keeps the epsilon of the configuration by its own probabilities."""
    domain, audited = configuration.domain, mechanism.audit().epsilon
    if domain is None:
        raise ValueError("There is a strategy but no domain it belongs to: choose the data, then optimise again.")
    if mechanism.n != domain.size:
        raise ValueError(
            f"The strategy is for {mechanism.n:,} types but the domain has {domain.size:,}: optimise again for this domain."
        )
    if not mechanism.fits(domain.shape):
        raise ValueError(
            f"The strategy is for columns of {list(mechanism.sizes)} values but those of the domain have {list(domain.shape)}: "
            "optimise again for this domain."
        )
    if mechanism.epsilon != configuration.epsilon_value:
        raise ValueError(
            f"The strategy is for epsilon {mechanism.epsilon:g} and the configuration asks for {configuration.epsilon}: optimise again."
        )
    if not audited <= configuration.epsilon_value:
        raise ValueError(
            f"The strategy's audited epsilon is {rounded_up(audited, 12)}, more than the {configuration.epsilon} of the "
            "configuration: it would break the promise made to users; optimise again."
        )


def _check_recorded(name: str, content: bytes, outcome: Mapping[str, Any], *path: str) -> None:
    if _recorded(outcome, *path) != hashlib.sha256(content).hexdigest():
        raise ValueError(
            f"{name} does not match the SHA-256 recorded in {OUTCOME}; one of them was changed: optimise or export the design again."
        )


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of files.

    Parameters
    ----------
    files : their contents by name.

    Returns
    -------
    64 hexadecimal digits for each name.
    """
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def _changed(members: Mapping[str, bytes], outcome: Mapping[str, Any]) -> str:
    """The files of a kit, and of a proof, that are not as they were recorded, in words; empty where all are."""
    parts = [part for part in map(outcome.get, ("kit", "certificate")) if isinstance(part, dict)]
    recorded = {name: digest for part in parts for name, digest in part.items()}
    found = digests({name: members[name] for name in (*KIT, *PROOF) if name in members})
    said = {
        "went missing": [name for name in (*KIT, *PROOF) if name in recorded and name not in found],
        "changed": [name for name in found if recorded.get(name, found[name]) != found[name]],
        "came in": [name for name in found if name not in recorded],
    }
    return " and ".join(f"{listed(names, len(names))} {what}" for what, names in said.items() if names)


def _read_strategy(content: bytes, designs: int = 1) -> dict[str, np.ndarray]:
    """The float64 matrix of an npz file, and the vectors of the prior and of the classes of types if it holds them; of several ``designs``
    each with its number, and which is that of each group."""
    names = [f"{part}{k or ''}" for k in range(designs) for part in TABLE] + ["which"] * (designs > 1)
    packed = zips.unzipped(content, tuple(f"{name}.npy" for name in names), within=f"{STRATEGY} in the file")
    read = {name: zips.array(packed.get(f"{name}.npy", b""), 2 if name.startswith("strategy") else 1) for name in names}
    arrays = {name: array for name, array in read.items() if array is not None}
    damaged = [name for name in names if name not in arrays and (f"{name}.npy" in packed or names == list(TABLE))]
    if any(name.startswith("strategy") for name in damaged):
        raise ValueError(f"{STRATEGY} is not a single matrix of float64 numbers: optimise again or export again.")
    if damaged := [name for name in damaged if f"{name}.npy" in packed]:
        raise ValueError(
            f"The {damaged[0]} in {STRATEGY} must be a list of float64 numbers: optimise again or export again."
        )
    if (entries := sum(array.size for array in arrays.values() if array.ndim == 2)) > MOST_STRATEGY_ENTRIES:
        raise ValueError(f"The strategy has {entries:,} entries; at most {MOST_STRATEGY_ENTRIES:,} are kept.")
    return arrays


def _read_strategies(content: bytes, designs: int = 1) -> list[np.ndarray]:
    """The float64 matrices of an npz file whose members are numbered from 0, of so many ``designs`` at most."""
    names = tuple(f"{k}.npy" for k in range(designs * limits.MOST_TABLE_STRATEGIES))
    arrays = zips.unzipped(content, names, within=f"{STRATEGIES} in the file")
    read = [zips.array(arrays.get(name, b""), 2) for name in names[: len(arrays)]]
    strategies = [strategy for strategy in read if strategy is not None]
    if len(strategies) < len(arrays) or not strategies:
        raise ValueError(f"{STRATEGIES} does not hold matrices of float64 numbers, numbered from 0: export again.")
    return strategies


def software() -> dict[str, str]:
    """Versions of what a design is computed with."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "ldp_core": __version__,
    }
