"""The sentences of the report of a design: what is promised, on what it rests, and what it leaves open."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from ldp_core import beliefs, library, wording
from ldp_core.deploy.kit.markup import Node, element, listed, table
from ldp_core.designs import (
    Configuration,
    audited_in_words,
    factor_in_words,
    hidden_values,
    in_the_clear,
    observed_parts,
    open_values,
    risk_in_words,
)
from ldp_core.mechanisms import Audit, Mechanism

SUSPICION = 0.5
"""The prior belief in the example of a report's effect."""
_CASES = {
    "worst_case": "worst case",
    "average": "average over even people",
    "people": "people as counted or expected",
    "histogram": "people as in a given histogram",
}

TRUST = (
    "The local model: each value is randomised on the person's own device, by client.py or client.js, and only the report is sent. "
    "No one has to trust the collector, its network or its storage with true values.",
    "People have to trust the device, the supplier of its software, and its source of random numbers. They also have to trust that it runs "
    "the audited device.json. Its design id, a digest of its contents, is sent with every report, and anyone can run audit.py on it.",
    "People who send made-up reports cannot learn anything about others, but they can distort the answers.",
)
BIAS = (
    "The unbiased estimates have no systematic error if every device follows the design and every value is assigned to its type as "
    "described. They can be negative or exceed the number of people.",
    "Estimates that are made consistent and non-negative afterwards are easier to read and often closer to the truth, but "
    "biased, mostly upwards for what is rare.",
    "Relative to its size, the answer for a small group is off by more than that for a large one. Decisions on small groups need the "
    "errors of their own answers, not that of a typical one.",
    "Randomising does not correct errors from the choice of participants, from the values offered, or from merged "
    "categories. These errors remain in the answers, and no interval here includes them.",
)
ACCESS = (
    "True values are neither in this file nor at the collector. Reports still carry information on people, within epsilon: give "
    "access to single reports only to those who count them, and delete reports once they are counted.",
    "Ids of reports must be random and new for each report. An id that belongs to a person or a device would link reports, and "
    "with them the time and place of sending.",
    "Anyone who can change device.json or the clients before people run them can break the promise. Publish the SHA-256 below where people "
    "can compare it.",
)
EXPOSURE = (
    "Until it is randomised, the value is on the device in the clear. Forms, logs, crash reports, analytics, keyboards and backups that see "
    "it are not protected by anything here: keep the value in memory, only as long as the report takes to draw.",
    "The collector knows who was invited, who answered and when; this is not protected. If taking part is itself sensitive, "
    "it must be hidden by other means.",
    "Ask nothing that is not needed for the questions of this design: what is not asked cannot leak.",
)
NOT_COVERED = (
    "IP addresses, time of sending and other metadata.",
    "Other data that the same organisation, or anyone else, holds on the same people.",
    "Facts about whole groups: published answers can be used to infer something about a member, whether or not that person took part.",
    "Further collections from the same people: their epsilons add up to those of this one.",
    "Devices that are broken into, software that was altered, and random numbers that can be predicted.",
    "The judgement that the collection is lawful and epsilon small enough for its purpose: a person has to make it.",
)


def case_title(case: str) -> str:
    """Whose error counts, in a table."""
    return _CASES.get(case, case.replace("_", " "))


def promise(c: Configuration, audit: Audit) -> tuple[str, ...]:
    """The promise, and to whom it is made."""
    kind = "pure local differential privacy" if audit.delta == 0 else "approximate local differential privacy"
    shared = (
        "It holds against anyone who sees the report, the collector included, whatever they know already and whatever they can "
        "compute, and for everything that is ever made from the reports.",
        "It rests on four assumptions. Every device runs the design as it is in device.json. Its random numbers are secret and "
        "unpredictable. The values to choose from were fixed before collecting. No one sends more reports than the design allows.",
    )
    if audit.promise == "secret":
        return (
            in_the_clear(c),
            "People are promised one-sided (utility-optimised) local differential privacy (Murakami and Kawamoto 2019; Kotsogiannis et al. 2020). "
            f"{open_values(c, audit)}",
            f"The odds that somebody has a secret value, against any other value, rise by a factor of at most {factor_in_words(c.epsilon_value)}. They can fall "
            "to 0: a report that says an open value shows that its sender has no secret one.",
            *shared,
        )
    return (
        in_the_clear(c),
        f"Every person who takes part is promised {kind}: {risk_in_words(c.epsilon_value, audit.delta)}. This is so for any two values "
        "that person could have.",
        *shared,
    )


def unit(c: Configuration, audit: Audit) -> tuple[str, ...]:
    """The extent of one person's protection."""
    assert c.domain is not None  # `guarantee` has refused designs without one
    secret = [attribute for attribute in c.domain.attributes if not attribute.known]
    names = [wording.quoted(attribute.name, 60) for attribute in secret]
    what = f"value of {names[0]}" if len(names) == 1 else f"record of {', '.join(names[:-1])} and {names[-1]} together"
    k, size = c.reports_per_user, wording.magnitude(math.prod(attribute.size for attribute in secret))
    return (
        f"The unit is one report of one person. It protects the whole {what}: any of the {size} possible ones could be exchanged for any "
        "other."
        if audit.promise == "all"
        else f"The unit is one report of one person. It protects a secret {what}: such a one could be exchanged for any of the {size} possible ones.",
        "Each person sends one report. Another one, even of the same value, would spend epsilon again: a device that has to send "
        "again must send the report it drew first."
        if k == 1
        else f"Each person sends up to {k:,} reports, one on each of as many separate occasions. Together they keep epsilon {c.total_epsilon:g} "
        "by basic composition. A device that has to send again must send the report that it drew first for that occasion.",
        "That somebody takes part is not hidden.",
    )


def for_people(c: Configuration, audit: Audit) -> tuple[str, ...]:
    """The promise to the people asked, in five plain lines for their screen.

    Parameters
    ----------
    c, audit : the design, and the guarantee that its mechanism really gives.

    Returns
    -------
    What leaves the device, who sees it, what can be learned about one person at most, what is learned about all, and what is not hidden.
    """
    assert c.domain is not None  # `guarantee` has refused designs without one
    clear = [wording.quoted(one.name, 60) for one in c.domain.attributes if one.known and one.size > 1]
    k = c.reports_per_user
    belief = beliefs.belief_in_words(SUSPICION, c.epsilon_value, audit.delta, k)
    if audit.promise == "secret":
        belief = (
            f"these answers are hidden: {hidden_values(c)}. Of one of them, {belief[0].lower()}{belief[1:]} "
            "Every other answer is open: the report may say it outright."
        )
    sent = "one report" if k == 1 else f"one report on each of up to {k:,} occasions"
    questions = wording.listed([wording.shortened(part.summary, 80) for part in c.parts], 3)
    return (
        f"Your answers stay on this device. It draws {sent} at random from them, and only that leaves the device."
        f"{f' {wording.capital(wording.listed(clear))} is sent as it is, since it is known already.' if clear else ''}",
        "Whoever collects the reports sees yours, and so does anyone they pass it on to. Nobody sees your answers.",
        f"About you: {belief[0].lower()}{belief[1:]}",
        f"About everybody: all reports together show, with some error: {questions}.",
        "Not hidden: that you take part, when, and from which address.",
    )


def parameter_table(c: Configuration, audit: Audit) -> ET.Element:
    """The privacy parameters.

    Parameters
    ----------
    c, audit : the design, and the guarantee that its mechanism really gives.

    Returns
    -------
    A table with the name of each, its value, and what it means.
    """
    changes = "changes the odds of two values"
    if audit.promise == "secret":
        changes = "raises the odds of a secret value against any other"
    rows: list[list[Node]] = [
        ["epsilon of one report", c.epsilon, "natural logarithm of the factor below; a number without a unit"],
        ["e^epsilon", factor_in_words(c.epsilon_value), f"the most by which one report {changes}"],
        ["reports of one person", f"{c.reports_per_user:,}", "reports, each of an occasion of its own"],
        ["epsilon of all of them", f"{c.total_epsilon:g}", "the sum of those of the reports"],
        ["audited epsilon", audited_in_words(c.epsilon_value, audit), "of one report, from the probabilities in device.json"],
    ]  # fmt: skip
    delta = ["delta of one report", wording.rounded_up(audit.delta, 3), "a probability"]
    return table(["parameter", "value", "what it means"], [*rows, delta] if audit.delta > 0 else rows)


def parameters(c: Configuration, audit: Audit) -> tuple[str, ...]:
    """The meaning of the parameters for one person."""
    delta, k = audit.delta, c.reports_per_user
    belief = beliefs.belief_in_words(SUSPICION, c.epsilon_value, delta, k)
    return (
        belief if audit.promise == "all" else f"Of a secret value, {belief[0].lower()}{belief[1:]}",
        "The smaller epsilon, the stronger the promise. No value is right for every purpose: weigh it against the harm that could come from a "
        "value becoming known, and against everything else that is collected from the same people.",
    )


def algorithm(c: Configuration, outcome: Mapping[str, Any], mechanism: Mechanism) -> ET.Element:
    """How a report is drawn, and how that was checked."""
    spec, audit = library.spec(c.mechanism.name), mechanism.audit()
    stated = outcome.get("mechanism") or {}
    origin = stated.get("origin")
    sentences = [
        f"The mechanism is {spec.title}; source: {spec.paper}. A report has about {wording.significant(mechanism.bits_per_report)} bits.",
        str(stated.get("explanation") or mechanism.explain()),
        "Every probability is a whole number over one power of two. A device draws whole numbers and compares them with those: nothing is "
        "rounded when a report is made.",
        f"The audit worked from these numbers ({audit.method}). It found epsilon {audited_in_words(c.epsilon_value, audit)} for a claim of "
        f"{c.epsilon}. No figure here was estimated from samples.",
        "audit.py repeats this from device.json and the client beside it, in exact fractions, with Python's standard library: run python audit.py device.json.",
        "vectors.json holds random bytes, values and the reports that both clients must make of them; a client of your own can be "
        "checked with it.",
        f"Writing the fitted probabilities as whole numbers takes {wording.small_share(lost)} more people for the same error."
        if (lost := mechanism.lost) is not None
        else "",
        f"The probabilities were fitted to the questions; they were {origin}." if origin else "",
    ]
    return listed([sentence for sentence in sentences if sentence])


def hazards(c: Configuration) -> tuple[str, ...]:
    """Common faults of implementations, and the answer to each."""
    return (
        "Floating point: none is used when a report is drawn, so no report is impossible or too likely by rounding.",
        "Random numbers: client.py draws them from Python's secrets, client.js from the Web Crypto of the browser. Both refuse a source "
        "that repeats its bytes, or gives hardly any different ones, as the sources of test set-ups do. "
        f"The seed {c.simulation.seed:d} in configuration.json is for simulations; a device that used it would give no privacy.",
        "Side channels: the number of random bytes that a report takes is independent of the value. Time and power are not: "
        "keep the device from anybody who could measure them, and send the report at a time that does not depend on them.",
        "Repeated reports: a device that draws a new report whenever it is asked gives its value away in the long run. Draw once"
        f"{' for each occasion' if c.reports_per_user > 1 else ''}, keep the report, and send the same one again.",
        "Altered designs: the clients and audit.py refuse a device.json that does not match its ids, which stops accidents, "
        "and one that breaks the promise. An attacker who alters bins or categories can write matching ids: only a signature "
        "stops that. Reports that name another design are not counted.",
        "Forged reports: anybody can send reports of their choice. Ids that come twice are counted once; "
        "let each person send one" + (" on each occasion." if c.reports_per_user > 1 else "."),
        "The simulation of the program that made this design draws from generators that can be predicted. It must not make reports of "
        "real people; the clients in this kit do.",
    )


def revealed(c: Configuration, outcome: Mapping[str, Any]) -> ET.Element:
    """The data-dependent parts of the kit."""
    parts = list(outcome.get("read_off_the_data", observed_parts(c))) or [
        "Everything was declared: the files reveal nothing about any data."
    ]
    return listed([element("span", part) for part in parts])
