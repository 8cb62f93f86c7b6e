import io
import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from PIL import Image

import desk.processes
from desk.answers import Answer, AnswersError, answers_from, answers_json, answers_text, by_place, newest
from recognize.pipeline import merged
from templates import encode

SCHEMA = json.loads((Path(desk.batch.__file__).parent / "schema" / "answers.json").read_text("utf-8"))


def document(*answers):
    return {"format": "pulka-answers/1", "answers": list(answers)}


def one(**changes):
    answer = {"sheet": "TRRM-CA5K", "field": "d07.tricks.C", "value": "3"} | changes
    return document({key: value for key, value in answer.items() if value is not None})


GOOD = [
    one(field="d07.mountain.C", value="-3"),
    document(),
    one(),
    one(sheet="trrm ca5k"),
    one(value="-"),
    one(value=""),
    one(field="d07.whists.B.A", value="124"),
    one(field="d00.pool.A", value="0"),
    one(field="d01.contract.misere", value="x"),
    one(field="d01.declarer.A", value=""),
    one(field="result.A", value="-38"),
    one(sheet=None, source="IMG_1.jpg"),
    one(sheet=None, source="scan.pdf", page=3),
]


@pytest.mark.parametrize("data", GOOD)
def test_good_answers_are_taken_and_written_again_the_same(data):
    Draft202012Validator(SCHEMA).validate(data)
    answers = answers_from(json.dumps(data))
    again = answers_json(answers)
    Draft202012Validator(SCHEMA).validate(again)
    assert answers_from(json.dumps(again)) == answers
    assert len(answers) == len(data["answers"])
    kept = answers_text(answers)
    assert json.loads(kept) == again
    assert len(kept.splitlines()) == 1 + max(len(answers), 1)


BAD = [
    ([], "это не файл ответов, он такой: {"),
    ({"format": "pulka-answers/2", "answers": []}, '"format": "pulka-answers/1"'),
    ({"format": "pulka-answers/1"}, "нужен список ответов в квадратных скобках"),
    (document() | {"answer": []}, 'лишнее: answer; здесь бывают "format", "answers"'),
    (document("3"), "строка 1, ответ 1: ответ пишут в фигурных скобках: {"),
    (one(value=3), 'после "value" пишут в кавычках, например "3"'),
    (one(value=None), 'нет "value"; ответ пишут так: {"sheet"'),
    (one(field=None), 'нет "field"'),
    (one(sheet=None), "нужно одно из двух"),
    (one(source="IMG_1.jpg"), "нужно одно из двух"),
    (one(seat="A"), "лишнее: seat"),
    (one(page=1), '"page" — номер страницы'),
    (one(sheet=None, source="scan.pdf", page=0), '"page" — номер страницы'),
    (one(sheet="TRRM"), "не номер листа"),
    (one(sheet="TRRM-CA5I"), "не номер листа"),
    (one(field="d07.tricks.C", value="x"), "d07.tricks.C: «x» не подходит, нужно число от 0 до 10"),
    (one(field="d07.tricks.C", value="11"), "d07.tricks.C: «11» не подходит, нужно число от 0 до 10"),
    (one(field="d07.tricks.C", value="03"), "не подходит"),
    (one(field="d07.pool.C", value="-3"), "не подходит"),
    (one(field="d07.declarer.C", value="1"), "нужно «x» (отметка) или пусто"),
]
UNKNOWN = [
    (one(field="d07.trick.C"), "нет такой клетки: d07.trick.C"),
    (one(field="d07.tricks.E"), "нет такой клетки"),
    (one(field="d00.tricks.A"), "нет такой клетки"),
    (one(field="name.A", value="5"), "нет такой клетки: name.A"),
    (one(sheet=None, source="IMG_1.jpg", field="sheet", value="935S 9A43"), "не код листа"),
]


@pytest.mark.parametrize(("data", "said"), BAD + UNKNOWN)
def test_what_is_wrong_is_said_in_a_line(data, said):
    with pytest.raises(AnswersError) as refused:
        answers_from(json.dumps(data))
    (problem,) = refused.value.problems
    assert said in problem.ru
    assert problem.en and "«" not in problem.en


@pytest.mark.parametrize(("data", "said"), BAD)
def test_the_schema_refuses_what_the_reader_refuses(data, said):
    assert not Draft202012Validator(SCHEMA).is_valid(data)


def test_the_schema_is_one_and_all_problems_are_said_at_once():
    Draft202012Validator.check_schema(SCHEMA)
    data = document(*one()["answers"], *one(value="x")["answers"], *one(field="d99")["answers"])
    with pytest.raises(AnswersError) as refused:
        answers_from(json.dumps(data))
    assert [problem.en.split(":")[0] for problem in refused.value.problems] == ["line 1, answer 2", "line 1, answer 3"]
    assert not Draft202012Validator(SCHEMA).is_valid(one(sheet=None, field="sheet"))
    assert not Draft202012Validator(SCHEMA).is_valid(one(field="sheet"))


@pytest.mark.parametrize("value", ["", "-", "0", "7", "10"])
def test_a_trick_count_of_a_deal_is_an_answer(value):
    data = one(field="d07.tricks.C", value=value)
    (answer,) = answers_from(json.dumps(data))
    assert answer.value == value and Draft202012Validator(SCHEMA).is_valid(data)


def test_a_code_is_told_of_a_picture_and_not_of_a_sheet():
    with pytest.raises(AnswersError, match='"source" is needed'):
        answers_from(json.dumps(one(field="sheet", value="1")))


@pytest.mark.parametrize("readme", ["README.md", "README.ru.md"])
def test_the_answers_in_the_readme_are_answers(readme):
    text = (Path(__file__).parent.parent / readme).read_text("utf-8")
    (shown,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    Draft202012Validator(SCHEMA).validate(json.loads(shown))
    assert [(a.place, a.value) for a in answers_from(shown)][1:] == [
        ("7K3M-9RXA", "x"),
        ("IMG_0412.jpg", "935S-9A43-02NX-39HK-G9BM"),
    ]
    for named in re.findall(r"examples/[\w./-]*", text):
        assert (Path(__file__).parent.parent / named).exists()


def test_the_newer_answer_counts():
    old, new = Answer("d01.pool.A", "1", sheet="S"), Answer("d01.pool.A", "2", sheet="S")
    other = Answer("d01.pool.A", "3", source="S.jpg")
    assert newest([old, other], [new]) == (new, other)
    assert by_place([new, other]) == {"S": {"d01.pool.A": "2"}, "S.jpg": {"d01.pool.A": "3"}}


# --- pulka read --answers


@pytest.fixture
def doubtful(photographer, tmp_path, monkeypatch):
    """A photo of which the program asks something: two totals look like slips, or may be misread."""
    real = desk.batch.read_photo

    def read(photo, known, answers):
        (reading,) = real(photo, known, {})
        values = {name: f.value for name, f in reading.fields.items() if ".whists." in name and f.value}
        # The last totals of two boxes, so that nothing follows from them.
        last = sorted({name[4:]: name for name in sorted(values)}.values())[-2:]
        blurred = {name: {str(int(values[name]) + 2): 0.97, values[name]: 0.03} for name in last}
        evidence = replace(reading.evidence, likely={**reading.evidence.likely, **blurred})
        found = merged([replace(reading, evidence=evidence)], answers.get(reading.sheet.id, {}))
        return [replace(found, evidence=evidence)]

    monkeypatch.setattr(desk.batch, "read_photo", read)
    return photographer().save(tmp_path / "one.jpg")


@pytest.fixture
def say(tmp_path):
    def write(*answers):
        path = tmp_path / "answers.json"
        path.write_text(json.dumps(document(*answers)), "utf-8")
        return path

    return write


def test_an_answer_counts_is_kept_and_only_what_it_changes_is_read_again(
    pulka, photographer, tmp_path, say, monkeypatch
):
    photos, kept = tmp_path / "photos", tmp_path / "kept"
    photos.mkdir()
    photographer(1).save(photos / "1.jpg")
    photographer(2).save(photos / "2.jpg")
    first = pulka("read", photos, "-o", kept, "--json", "--jobs", 1).json
    name = next(n for n, f in first[0]["fields"].items() if ".tricks." in n and f["value"])
    sheet, value = first[0]["sheet"]["id"], first[0]["fields"][name]["value"]
    other = "1" if value != "1" else "2"
    read = []
    real = desk.processes.read_pages
    monkeypatch.setattr(
        desk.processes, "read_pages", lambda picture, work: read.append(picture.name) or real(picture, work)
    )
    answers = say({"sheet": sheet, "field": name, "value": other})
    ran = pulka("read", photos, "-o", kept, "--answers", answers, "--json", "--jobs", 1)
    assert ran.err == ""
    assert read == ["1.jpg"]
    told = ran.json[0]["fields"][name]
    assert (told["value"], told["why"], told["state"]) == (other, "person", "clear")
    assert ran.json[1] == first[1]
    # Later runs know it without being told, and read nothing again.
    read.clear()
    assert pulka("read", photos, "-o", kept, "--json", "--jobs", 1).json == ran.json
    assert read == []
    assert json.loads((kept / "answers.json").read_text("utf-8")) == json.loads(answers.read_text("utf-8"))
    # Reading all again keeps it, too; a newer answer takes its place.
    assert pulka("read", photos, "-o", kept, "--again", "--json", "--jobs", 1).json == ran.json
    again = say({"sheet": sheet, "field": name, "value": value})
    assert pulka("read", photos, "-o", kept, "--answers", again, "--json").json[0]["fields"][name]["value"] == value
    assert json.loads((kept / "answers.json").read_text("utf-8")) == json.loads(again.read_text("utf-8"))


def test_answers_kept_but_damaged_are_not_written_over(pulka, photographer, tmp_path, say):
    photo, kept = photographer().save(tmp_path / "one.jpg"), tmp_path / "kept"
    kept.mkdir()
    (kept / "answers.json").write_text('{"format": "pulka-answers/1", "answ', "utf-8")
    ran = pulka("read", photo, "-o", kept, "--answers", say())
    assert ran.code == 2
    (line,) = ran.complaints
    assert line == (
        f'pulka: {kept / "answers.json"}: строка 1: это не JSON: непонятно «"answ» (знак 31); поправьте в текстовом '
        "редакторе или переименуйте файл: в нём ответы людей, и без него их придётся дать заново"
    )
    assert (kept / "answers.json").read_text("utf-8").endswith('"answ')
    (kept / "answers.json").write_text(json.dumps(document("3", {}), indent=1), "utf-8")
    ran = pulka("read", photo, "-o", kept, "--lang", "en")
    assert ran.code == 2
    head, *lines = (line.removeprefix(f"pulka: {kept / 'answers.json'}: ") for line in ran.complaints)
    assert head.startswith("put it right in a text editor, or rename the file")
    assert [line.partition(": ")[0] for line in lines] == ["line 4, answer 1", "line 5, answer 2"]


def test_answers_that_have_no_place_are_warned_of(pulka, photographer, tmp_path, say):
    photo = photographer().save(tmp_path / "one.jpg")
    sheet = pulka("read", photo, "--json").json[0]["sheet"]["id"]
    answers = say(
        {"sheet": "0000-0000", "field": "d01.pool.A", "value": "2"},
        {"sheet": "0000-0000", "field": "d02.pool.A", "value": "4"},
        {"source": "two.jpg", "field": "d01.pool.A", "value": "2"},
        {"sheet": sheet, "field": "d77.pool.A", "value": "2"},
        {"source": "one.jpg", "field": "sheet", "value": encode(photographer(2).sheet.identity)},
    )
    ran = pulka("read", photo, "--answers", answers, "--lang", "en")
    assert ran.code == 1
    absent = "there is no such sheet among the pictures; read its photo, too, or, if this is a slip, correct or delete"
    told = [
        f"answers for 0000-0000, d01.pool.A, d02.pool.A: {absent}",
        f"answer for two.jpg, d01.pool.A: {absent}",
        f"answer for {sheet}, d77.pool.A: this sheet has no such field; correct or delete",
        "answer for one.jpg, sheet: the code does not count, the sheet in the picture has another; correct or delete",
    ]
    assert ran.complaints == [f"pulka: {answers}: the {line}" for line in told]
    ran = pulka("read", photo, "--answers", answers)
    assert len(ran.complaints) == 4 and all("ответ" in line for line in ran.complaints)
    # With a folder they are kept there, and told of in every run until they are mended.
    kept = tmp_path / "kept" / "answers.json"
    ran = pulka("read", photo, "--answers", answers, "-o", tmp_path / "kept", "--lang", "en")
    assert ran.complaints == [f"pulka: {answers} and {kept}: the {line}" for line in told]
    ran = pulka("read", photo, "-o", tmp_path / "kept", "--lang", "en", "--json")
    assert (ran.code, ran.complaints) == (1, [f"pulka: {kept}: the {line}" for line in told])


def test_an_answer_for_a_sheet_that_the_folder_knows_is_not_complained_of(pulka, photographer, tmp_path, say):
    one, two = (photographer(seed).save(tmp_path / f"{seed}.jpg") for seed in (1, 2))
    kept = tmp_path / "kept"
    sheet = pulka("read", one, "-o", kept, "--json").json[0]["sheet"]["id"]
    by_name = {"source": "1.jpg", "field": "d02.tricks.A", "value": "10"}
    assert not pulka("read", two, "-o", kept, "--answers", say(by_name)).err
    assert not pulka(
        "read", two, "-o", kept, "--answers", say({"sheet": sheet, "field": "d01.pool.A", "value": "2"})
    ).err
    # The picture has another name now, and what was answered for the old one no longer counts.
    ran = pulka("read", one.rename(tmp_path / "renamed.jpg"), "-o", kept)
    assert "ответ для 1.jpg, d02.tricks.A: такого листа среди снимков нет" in ran.err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1251"])
def test_answers_are_read_as_windows_saves_them(pulka, photographer, tmp_path, encoding):
    photo = photographer().save(tmp_path / "Снимок.jpg")
    text = json.dumps(one(sheet=None, source="Снимок.jpg", field="d01.tricks.A", value="10"), ensure_ascii=False)
    (tmp_path / "answers.json").write_bytes(text.encode(encoding))
    ran = pulka("read", photo, "--answers", tmp_path / "answers.json", "--json")
    assert ran.err == "" and ran.json[0]["fields"]["d01.tricks.A"]["why"] == "person"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"field": "d07.tricks.С"}, Answer("d07.tricks.C", "3", sheet="TRRM-CA5K")),  # Russian С
        ({"field": "d07.tricks.Г"}, Answer("d07.tricks.D", "3", sheet="TRRM-CA5K")),
        ({"field": "d07.рооl.А"}, Answer("d07.pool.A", "3", sheet="TRRM-CA5K")),
        ({"field": "d07.whists.Б.А"}, Answer("d07.whists.B.A", "3", sheet="TRRM-CA5K")),
        ({"sheet": "TRRM-СА5К"}, Answer("d07.tricks.C", "3", sheet="TRRM-CA5K")),
        ({"field": "d07.declarer.A", "value": "Х"}, Answer("d07.declarer.A", "x", sheet="TRRM-CA5K")),
        ({"field": "d07.mountain.A", "value": "−3"}, Answer("d07.mountain.A", "-3", sheet="TRRM-CA5K")),
        ({"value": " – "}, Answer("d07.tricks.C", "-", sheet="TRRM-CA5K")),
    ],
)
def test_russian_letters_that_can_mean_one_thing_are_taken(given, meant):
    assert answers_from(json.dumps(one(**given))) == (meant,)


def test_a_russian_letter_that_may_be_two_seats_is_not_guessed():
    with pytest.raises(AnswersError) as refused:
        answers_from(json.dumps(one(field="d07.tricks.В")))
    (problem,) = refused.value.problems
    assert "русская «В» — это место B или C?" in problem.ru


def test_what_an_answer_says_twice_is_refused():
    text = json.dumps(one()).replace('"value": "3"', '"value": "3",\n"value": "4"')
    with pytest.raises(AnswersError, match="line 1, answer 1: “value” occurs twice"):
        answers_from(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": "pulka-answers/1"\n"answers": []}', 'строка 2: это не JSON: перед «"answers":» нет запятой'),
        ("{“format”: “pulka-answers/1”}", "у «“format”:» не те кавычки, нужны прямые двойные"),
        ('{"format": ', "текст обрывается"),
        (
            '{"format": "pulka-answers/1", "answers": [{},\n ]}',
            "строка 2: это не JSON: лишняя запятая перед закрывающей",
        ),
    ],
)
def test_what_is_no_json_is_said_with_what_is_missing(text, said):
    with pytest.raises(AnswersError) as refused:
        answers_from(text)
    (problem,) = refused.value.problems
    assert said in problem.ru


def test_an_answer_for_a_name_that_two_pictures_have_does_not_count(pulka, photographer, tmp_path, say):
    for seed, folder in ((1, "a"), (2, "b")):
        (tmp_path / folder).mkdir()
        photographer(seed).save(tmp_path / folder / "1.jpg")
    answers = say({"source": "1.jpg", "field": "d01.tricks.A", "value": "10"})
    ran = pulka("read", tmp_path / "a", tmp_path / "b", "--answers", answers, "--json")
    assert "ответ для 1.jpg, d01.tricks.A: не учтено, так называются разные снимки" in ran.complaints[0]
    assert {reading["fields"]["d01.tricks.A"]["why"] for reading in ran.json} <= {"image", "rules"}


def test_pictures_of_one_name_are_told_apart_by_their_folders(pulka, photographer, tmp_path, say, monkeypatch):
    monkeypatch.setattr("recognize.identify.tesseract_found", lambda: False)
    for seed, folder in ((3, "a"), (5, "b")):
        (tmp_path / folder).mkdir()
        photographer(seed, torn_codes=True).save(tmp_path / folder / "1.jpg")
    asked = pulka("read", tmp_path, "--lang", "en", "--jobs", 1)
    heads = [line for line in asked.out.splitlines() if "1.jpg" in line]
    assert [line.split(":")[0] for line in heads[:2]] == ["a/1.jpg", "b/1.jpg"]
    assert "not the only sheet" not in asked.out
    assert '{"source": "a/1.jpg", "field": "sheet", "value": "935S 9A43 …"}' in asked.out
    code = encode(photographer(5, torn_codes=True).sheet.identity)
    answers = say({"source": "b/1.jpg", "field": "sheet", "value": code})
    # It is the same picture where the other one is not read with it, and has its plain name.
    for paths, expected in (([tmp_path], [None, code]), ([tmp_path / "b" / "1.jpg"], [code])):
        ran = pulka("read", *paths, "--answers", answers, "--json", "--jobs", 1)
        assert ([reading["sheet"]["code"] for reading in ran.json], ran.err) == (expected, "")


def test_an_answer_for_a_page_of_a_scan_counts_for_that_page(pulka, photographer, tmp_path, say):
    pages = [Image.open(io.BytesIO(photographer(seed).jpeg)).convert("L") for seed in (1, 2)]
    pages[0].save(tmp_path / "scan.pdf", save_all=True, append_images=pages[1:], resolution=200)
    answers = say({"source": "scan.pdf", "page": 2, "field": "d01.tricks.A", "value": "10"})
    ran = pulka("read", tmp_path / "scan.pdf", "-o", tmp_path / "kept", "--answers", answers, "--json")
    assert ran.err == ""
    assert [reading["fields"]["d01.tricks.A"]["why"] == "person" for reading in ran.json] == [False, True]


def test_answers_that_cannot_be_read_are_wrong_usage(pulka, photographer, tmp_path, say):
    photo = photographer().save(tmp_path / "one.jpg")
    ran = pulka("read", photo, "--answers", tmp_path / "none.json")
    assert (ran.code, len(ran.complaints)) == (2, 1)
    answers = say({"sheet": "TRRM-CA5K", "field": "d01.pool.A", "value": "два"}, 5)
    ran = pulka("read", photo, "--answers", answers)
    assert ran.code == 2
    assert [
        line.startswith(f"pulka: {answers}: строка 1, ответ {n}: ") for n, line in enumerate(ran.complaints, 1)
    ] == [True] * 2


def test_a_sheet_without_its_code_is_told_by_a_person(pulka, photographer, tmp_path, say, monkeypatch):
    monkeypatch.setattr("recognize.identify.tesseract_found", lambda: False)
    taken = photographer(3, torn_codes=True)
    photo = taken.save(tmp_path / "torn.jpg")
    shutil.copy(photo, tmp_path / "copy.jpg")
    asked = pulka("read", tmp_path, "--lang", "en")
    assert '{"source": "copy.jpg", "field": "sheet", "value": "935S 9A43 …"}' in asked.out
    code = encode(taken.sheet.identity)
    for name in ("copy.jpg", "torn.jpg"):
        ran = pulka("read", tmp_path, "--answers", say({"source": name, "field": "sheet", "value": code}), "--json")
        (reading,) = ran.json
        assert reading["sheet"]["code"] == code
        assert reading["settlement"]["played"] is not None
        assert reading["pictures"] == ["copy.jpg", "torn.jpg"]
    # The page marks say that this is not the sheet whose code was typed.
    wrong = say({"source": "torn.jpg", "field": "sheet", "value": encode(photographer(2).sheet.identity)})
    ran = pulka("read", photo, "--answers", wrong, "--json")
    assert ran.json[0]["sheet"]["code"] is None
    assert ran.json[0]["review"][0]["field"] == "sheet"
    assert "код не учтён" in ran.complaints[0]


def test_every_question_names_its_field_and_how_to_answer(pulka, doubtful, say):
    (reading,) = pulka("read", doubtful, "--json").json
    assert reading["review"]
    ran = pulka("read", doubtful)
    for question in reading["review"]:
        assert f"[{question['field']}]" in ran.out
    example = next(line for line in ran.out.splitlines() if "pulka-answers/1" in line)
    data = json.loads(example)
    first = reading["review"][0]
    assert data["answers"] == [{"sheet": reading["sheet"]["id"], "field": first["field"], "value": "…"}]
    Draft202012Validator(SCHEMA).validate(json.loads(example.replace("…", first["best"])))
    answers = [{"sheet": reading["sheet"]["id"], "field": q["field"], "value": q["best"]} for q in reading["review"]]
    told = pulka("read", doubtful, "--answers", say(*answers), "--json").json[0]
    assert {told["fields"][q["field"]]["why"] for q in reading["review"]} == {"person"}
    assert told["status"] == "clear"
    assert "--answers" not in pulka("read", doubtful, "--answers", say(*answers)).out


def test_a_picture_on_standard_input(pulka, photographer, tmp_path, monkeypatch):
    taken = photographer()
    photo = taken.save(tmp_path / "one.jpg")

    class Input:
        buffer = io.BytesIO(taken.jpeg)

    monkeypatch.setattr(sys, "stdin", Input)
    (reading,) = pulka("read", "-", "--json").json
    assert (reading["source"], reading["pictures"]) == ("stdin", ["stdin"])
    (same,) = pulka("read", photo, "--json").json
    assert reading["fields"] == same["fields"]
    Input.buffer = io.BytesIO(b"")
    ran = pulka("read", "-")
    assert ran.code == 3
    assert "файл пуст" in ran.out


def test_a_file_nested_without_end_is_not_an_answer():
    with pytest.raises(AnswersError, match="this is not JSON"):
        answers_from("[" * 100_000)


def test_two_answers_that_contradict_each_other_are_refused():
    first = one()["answers"][0]
    assert len(answers_from(json.dumps(document(first, first)))) == 2
    with pytest.raises(AnswersError) as caught:
        answers_from(json.dumps(document(first, first | {"value": "4"})))
    (problem,) = caught.value.problems
    assert problem.ru == "строка 1, ответ 2: d07.tricks.C: «4» противоречит ответу 1 («3»)"
