"""Tables of what pages say: one row a case, instead of one function a case.

A row names a page, what the session holds when it is opened, what a person does there, and what they then read:

    CASES = [
        Case("a small budget", "design", given={"epsilon": "0.1"}, shows="needs"),
        Case("no bins", "data", do=[("Low", "3"), ("High", "2")], error="must be larger"),
        Case("a sweep", "compare", do=["Sweep epsilon"], shows="users", hides="not optimised"),
    ]

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_pages(ages, case):
        case.check(ages)

``do`` is a list of labels to press and of pairs (label, value) to set, by what is written beside the widget, or by its key.
`App.set`, `App.click`, `App.widget`, `App.words` and `App.errors` do the same in a test that needs more than a row.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One row: ``given`` are fields of the configuration, ``shows`` and ``hides`` one text or several."""

    name: str
    page: str
    given: dict = field(default_factory=dict)
    do: tuple | list = ()
    shows: str | tuple = ()
    hides: str | tuple = ()
    error: str = ""
    """Part of the one error on screen; by default there is none."""

    def __str__(self):
        return self.name

    def check(self, app):
        """Open the page, do what the row says and compare what is read. Returns ``app``."""
        if self.given:
            app.session.change(**self.given)
        app.go(self.page)
        for step in self.do:
            app.click(step) if isinstance(step, str) else app.set(*step)
        assert len(app.errors) == bool(self.error), app.errors
        assert self.error in "".join(app.errors), app.errors
        words = app.words
        for text in _texts(self.shows):
            assert text in words, words
        for text in _texts(self.hides):
            assert text not in words, words
        return app


def _texts(given):
    return (given,) if isinstance(given, str) else given
