"""One design is told once: every number that surfaces share is the same on all of them, printed, written and opened again."""

import csv
import io
import json
import re
import zipfile
from html import unescape

import pytest

from ldp_core import analysis, library, verdicts, wording
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.deploy import collector
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.standalone import realise
from ldp_core.workloads import HistogramPart, MeanPart, PrefixPart
from pages.ui.session import exchange

SPACE = "\N{NO-BREAK SPACE}"
COLOUR = CategoricalAttribute(name="colour", values=("red", "green", "blue", "none"), origin="declared")
ARM = CategoricalAttribute(name="arm", values=("new", "old"), origin="declared")
HEIGHT = NumericAttribute(name="height", edges=(0, 1, 2, 3, 4, 5, 6, 7, 8), origin="declared")


def design(attribute, part, mechanism, users, epsilon, aim="worst_case", shape="zipf", within=()):
    """A design whose target is still to be worked out."""
    by = {"by": tuple(group.name for group in within)} if within else {}
    return Configuration(
        domain=Domain(attributes=(*within, attribute)),
        population=Population(users=users, origin="declared", shape=shape),
        workload=WorkloadRecipe(parts=(part(attribute=attribute.name, **by),)),
        mechanism=MechanismRecipe(name=mechanism),
        epsilon=epsilon,
        optimizer=Optimizer(aim=aim, max_rounds=3),
    )


DESIGNS = {
    "running totals, optimised": design(HEIGHT, PrefixPart, "optimized", 3000, "1"),
    "histogram, closed form, average": design(COLOUR, HistogramPart, "optimized", 50_000, "0.5", "average"),
    "running totals for these people": design(HEIGHT, PrefixPart, "optimized", 900, "2", "people"),
    "few people at a large epsilon": design(COLOUR, HistogramPart, "subset_selection", 200, "20", shape="uniform"),
    "averages in secret groups": design(HEIGHT, MeanPart, "subset_selection", 9000, "2", "average", within=(ARM,)),
}


def flat(text):
    return " ".join(unescape(text).replace(SPACE, " ").split())


class Told:
    """The numbers of a design, as they are printed."""

    def __init__(self, setting):
        mechanism = setting.chosen_mechanism
        case = setting.case
        needed, bound = setting.users_needed(mechanism, case), max(setting.bounds(case).values())
        self.setting, self.target = setting, flat(setting.error_in_words(1.0))
        self.needed, self.minimum = wording.needed(needed), wording.minimum(bound)
        self.gap = flat(wording.gap(setting.gap(mechanism)))
        self.error = flat(setting.error_in_words((setting.mean_needed(mechanism, case) / setting.users) ** 0.5))
        self.verdict = flat(setting.verdict(mechanism))
        self.title = setting.titled(setting.chosen)
        self.promised = setting.answered(mechanism)

    def check(self):
        """What is printed agrees: the gap is that of the people printed, as far as they are written out, where groups are not to be estimated."""
        read = lambda text: int(text.replace(",", ""))  # noqa: E731
        (line,) = self.setting.answers.lines
        if read(self.needed) < 10_000 and line.group_sizes is None:
            more = read(self.needed) / read(self.minimum) - 1 if read(self.minimum) else float("inf")
            assert flat(wording.gap(more)) == self.gap
        assert read(self.minimum) <= read(self.needed)
        errors, values = self.promised["standard_error"], self.promised["value"]
        limits = line.target if line.key == "height" else [min(line.target, value / 2) for value in values]
        usable = int((errors + line.bins <= limits).sum())
        assert f"{usable} of {len(errors)}" in self.verdict or usable in (0, len(errors))
        assert f"up to ± {wording.significant(errors.max())} " in self.verdict


_told = {}


@pytest.fixture(params=DESIGNS)
def told(request, another):
    """Each design is fitted and proved once: what follows looks at it, and leaves it as it is."""
    if request.param not in _told:
        _told[request.param] = made(request.param, another())
    return _told[request.param]


def made(name, app):
    app.go("guide").load(DESIGNS[name].model_dump(mode="json"))
    app.go("design").finish()
    if app.session.setting.unfitted([app.session.setting.chosen]):
        app.press("optimise").finish()
    app.finish()
    app.session.setting.prove(app.session.setting.case)
    app.at.run()
    found = Told(app.session.setting)
    found.check()
    return app, found


def side(app):
    (label,) = [link.proto.label for link in app.at.get("page_link") if "the minimum" in link.proto.label]
    return flat(label.replace("\\", ""))


def words(app):
    return flat(app.words)


def metrics(app):
    return {metric.label: flat(metric.value) for metric in app.at.metric}


def walk(app, found):
    """Every page that shows a number of the design, and what it has to be."""
    app.go("design").finish()
    assert f"{found.title} needs" in words(app)
    shown = metrics(app)
    assert shown["People needed"] == found.needed
    assert f"nobody can do with fewer than {found.minimum}" in words(app)
    assert found.verdict in words(app)
    (line,) = found.setting.answers.lines
    assert app.control("text_input", f"target-{line.key}").value == wording.significant(line.target, 6)
    app.go("compare").finish()
    assert found.needed in words(app).split("Targets")[0]
    assert f"fewer than {found.minimum} p" in words(app)
    row = next(table for table in app.dataframes if "users_needed" in table).set_index("name").loc[found.title]
    assert (wording.needed(row["users_needed"]), wording.gap(row["gap"]).replace(SPACE, " ")) == (
        found.needed,
        found.gap,
    )
    app.go("bounds").finish()
    assert f"{found.title}** has {found.error}, worked out exactly" in words(app)
    reached = found.setting.gap(found.setting.chosen_mechanism) <= 0
    assert f"{found.title} {'reaches' if reached else f'needs at most {found.gap}'}" in words(app)
    assert f"{found.minimum} p" in words(app)
    app.go("export").finish()
    assert found.verdict in words(app)
    for page in ("design", "compare", "bounds", "simulate", "export", "collect"):
        app.go(page).finish()
        assert ("At the minimum" if reached else found.gap) in side(app), page
        title = library.spec(app.session.setting.chosen).title  # there is no room for more
        help = next(link.proto.help for link in app.at.get("page_link") if link.proto.label.startswith(title))
        assert f"{found.needed} p" in flat(help.replace("\\", "")), page
        assert found.target in flat(help.replace("\\", "")), page


@pytest.mark.promise
def test_every_page_says_the_same(told):
    walk(*told)


def test_the_optimised_mechanism_says_which_closed_form_it_is():
    plain, closed = (realise(DESIGNS[key]) for key in ("running totals, optimised", "histogram, closed form, average"))
    assert plain.titled("optimized") == "Optimised"
    assert closed.titled("optimized") == "Optimised (here: subset selection)"
    assert closed.titled("subset_selection") == "Subset selection"


@pytest.mark.promise
def test_simulate_predicts_what_design_promises(told):
    app, found = told
    app.session.change(simulation=app.configuration.simulation.model_copy(update={"trials": 2}))
    app.go("simulate").finish()
    if not app.at.tabs:
        app.press("run").finish()
    app.open("outcome-tabs", "Errors")
    setting = found.setting
    errors = analysis.answers(setting.chosen_mechanism, setting.workload, setting.counts)["standard_error"]
    (table,) = [table for table in app.dataframes if "± predicted" in table]
    # Designs take two digits of averages and sizes of groups, Simulate the people themselves.
    near = 5e-3 if setting.answers.lines[0].group_question is None else 0.03
    assert float(table["± predicted"].iloc[0]) == pytest.approx((errors**2).mean() ** 0.5, rel=near)


@pytest.mark.promise
def test_files_and_commands_say_the_same(told, tmp_path, capsys):
    """The report, the outcome, the command line, and reports of the kit's own design collected."""
    _app, found = told
    setting = found.setting
    kit = package.kit(setting, package.certificate_of(setting))
    with zipfile.ZipFile(io.BytesIO(kit)) as archive:
        report, outcome = (
            flat(re.sub("<[^>]*>", " ", archive.read("report.html").decode())),
            archive.read("outcome.json"),
        )
        stored = json.loads(archive.read("configuration.json"))
    assert stored["targets"] == setting.settled.targets
    for number in (
        found.title,
        found.verdict,
        f"target {found.target}",
        f"{found.needed} p",
        verdicts.RULE,
    ):
        assert flat(number) in report
    assert json.loads(outcome)["users_needed"][setting.case] == setting.users_needed(
        setting.chosen_mechanism, setting.case
    )
    (tmp_path / "kit.zip").write_bytes(kit)
    assert main(["design", str(tmp_path / "kit.zip")]) == 0
    printed = flat(capsys.readouterr().out)
    for number in (
        found.title,
        found.verdict,
        f"People needed {found.needed} ",
        f"Of the minimum, at most {found.gap} ",
        found.target,
    ):
        assert number in f"{printed} "
    if setting.fitted(setting.chosen) and package.without_files(setting.configuration, setting.chosen_mechanism):
        return  # a closed form is optimised again before its reports are collected
    opened = open_kit(kit)
    assert wording.needed(opened.needed) == found.needed
    reports = tmp_path / "reports.csv"
    reports.write_bytes(collector.simulated(opened.mechanism, opened.design, setting.counts.round(), 1))
    assert main(["collect", str(tmp_path / "kit.zip"), str(reports), "-o", str(tmp_path / "answers.csv")]) == 0
    with (tmp_path / "answers.csv").open() as file:
        answers = list(csv.DictReader(file))
    for row, error in zip(answers, found.promised["standard_error"], strict=True):
        assert float(row["standard_error"]) == pytest.approx(error, rel=0.25, abs=0.5)


def test_who_opens_it_sees_the_same(told, another):
    app, found = told
    other = another()
    other.go("guide").load(exchange.export(app.session)).finish()
    if other.session.setting.unfitted([other.session.setting.chosen]):  # a closed form has no file
        other.go("design").press("optimise").finish()
    other.session.setting.prove(other.session.setting.case)
    assert other.configuration.targets == found.setting.settled.targets
    walk(other, Told(other.session.setting))
    again = Told(other.session.setting)
    assert (again.needed, again.verdict, again.target) == (found.needed, found.verdict, found.target)


def test_the_plan_takes_the_fit_of_the_design(told):
    app, found = told
    app.solve_for("people")
    assert f"{found.needed} people meet the target" in words(app)
