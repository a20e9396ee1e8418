"""CSV files on offer: spreadsheets take them for UTF-8, and the app and the command line read them back."""

import codecs
import json

import pandas as pd

from ldp_core.data import tables
from ldp_core.deploy.commands import main
from tests.pages.test_page_collect import count, held

PLACES = "place\n" + "Zürich\n東京\nÅrhus\n" * 40


def test_every_csv_file_on_offer_is_marked_as_utf8_and_read_back(app, offered, tmp_path, capsys):
    app.upload("places.csv", PLACES.encode()).go("design").enter("selectbox", "mechanism", "subset_selection").finish()
    for page in ("data", "workload", "compare", "bounds", "export"):
        app.go(page).finish()
    app.go("collect").enter("segmented_control", "collect-from", "simulated").finish()
    content = {name: data() for name, data in offered.items() if name.endswith(".csv")}
    assert len(content) >= 6
    for name, written in content.items():
        assert written.startswith(codecs.BOM_UTF8), name
        assert not written[3:].startswith(codecs.BOM_UTF8), name
        back = tables.load(written, name).table
        assert list(back.columns) == list(pd.read_csv(pd.io.common.BytesIO(written)).columns), name
        assert not back.columns[0].startswith("\ufeff")
    assert "Zürich" in content["answers.csv"].decode("utf-8-sig")
    (name,) = [name for name in content if name.startswith("simulated-reports")]
    assert (count(app, (name, content[name])), held(app).users)[1] == 120  # by the app
    kit, reports = tmp_path / "kit.zip", tmp_path / name
    kit.write_bytes(offered["ldp-kit.zip"])
    reports.write_bytes(content[name])
    assert main(["collect", str(kit), str(reports), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["accepted"] == 120
