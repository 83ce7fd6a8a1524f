"""Entries go into a FAQ base from a file and out to one."""

import json
from pathlib import Path

from opora.cli.exits import Exit

from .conftest import Opora


def test_a_file_goes_in_and_out(opora: Opora, tmp_path: Path) -> None:
    source = tmp_path / "faq.csv"
    source.write_text("Вопрос;Ответ\nКак войти?;Через дверь\n;Без вопроса\nкак ВОЙТИ?;Ещё раз\n", encoding="utf-8")
    dry = opora("faq", "import", str(source), "--dry-run", "--json")
    assert (dry.code, dry.json["added"], dry.json["failed"]) == (Exit.PARTLY, 1, 2)
    done = opora("faq", "import", str(source), "--json")
    assert (done.code, done.json["status"], done.json["added"]) == (Exit.PARTLY, "completed", 1)
    assert [problem["row"] for problem in done.json["problems"]] == [3, 4]

    target = tmp_path / "out.json"
    assert opora("faq", "export", str(target)).code == Exit.OK
    entries = json.loads(target.read_text(encoding="utf-8"))["entries"]
    assert [entry["standard_question"] for entry in entries] == ["Как войти?"]
    again = opora("faq", "import", str(target), "--mode", "replace", "--json")
    assert (again.code, again.json["added"], again.json["failed"]) == (Exit.OK, 1, 0)
    assert opora("faq", "export", str(tmp_path / "out.txt")).code != Exit.OK
    assert opora("faq", "export", str(target), "--base", "Нет такой").code != Exit.OK
