"""What people answered: `pulka-answers/1`, the values that stand in fields which the picture alone leaves in doubt."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from recognize.identify import known_forms
from recognize.pipeline import Answers, picture_key
from scoring.files import RecordError, json_in
from scoring.text import Text
from templates import IdentityError, decode

FORMAT = "pulka-answers/1"

_SHEET_ID = re.compile(r"([0-9A-HJKMNPRSTUVWXYZ]{4})[- ]?([0-9A-HJKMNPRSTUVWXYZ]{4})")
_VALUES = {
    "mark": (re.compile(r"x?"), Text("«x» или пусто", "“x” or nothing")),
    "number": (
        re.compile(r"|-|0|[1-9][0-9]{0,3}"),
        Text("целое число до 9999, «-» или пусто", "a whole number up to 9999, “-” or nothing"),
    ),
    # By some conventions a mountain goes below zero.
    "balance": (
        re.compile(r"|-|0|-?[1-9][0-9]{0,3}"),
        Text("целое число, «-» или пусто", "a whole number, “-” or nothing"),
    ),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands in a field of a sheet, known by its short id, or by its picture's name and page.

    The field `sheet` is the sheet's code, for a picture in which it cannot be read.
    """

    field: str
    value: str
    sheet: str | None = None
    source: str | None = None
    page: int = 1

    @property
    def place(self) -> str:
        """The sheet or the picture, as the reader looks answers up."""
        return self.sheet if self.sheet is not None else picture_key(self.source or "", self.page)


class AnswersError(ValueError):
    """The file is not what it should be; each of `problems` is a line that says where and what."""

    def __init__(self, *problems: Text) -> None:
        """Keep the lines."""
        super().__init__("; ".join(problem.en for problem in problems))
        self.problems = problems


def answers_from(text: str) -> tuple[Answer, ...]:
    """The answers of a file. Raises AnswersError with every problem in it."""
    try:
        data = json_in(text)
    except RecordError as error:
        raise AnswersError(*(problem.text for problem in error.problems)) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise AnswersError(Text(f"нужен «format»: «{FORMAT}»", f"it must say “format”: “{FORMAT}”"))
    if strangers := sorted(set(data) - {"format", "answers"}):
        raise AnswersError(Text(f"лишнее: {', '.join(strangers)}", f"unexpected: {', '.join(strangers)}"))
    listed = data.get("answers")
    if not isinstance(listed, list):
        raise AnswersError(Text("нужен список «answers»", "it must have a list “answers”"))
    found: list[Answer] = []
    told: dict[tuple[str, str], tuple[int, str]] = {}
    problems: list[Text] = []
    for number, item in enumerate(listed, 1):
        try:
            answer = _answer(item)
            first, value = told.setdefault((answer.place, answer.field), (number, answer.value))
            if value != answer.value:
                raise AnswersError(
                    Text(
                        f"{answer.field}: «{answer.value}» противоречит ответу {first} («{value}»)",
                        f"{answer.field}: “{answer.value}” contradicts answer {first} (“{value}”)",
                    )
                )
            found.append(answer)
        except AnswersError as error:
            at = Text(f"ответ {number}: ", f"answer {number}: ")
            problems += [at + problem for problem in error.problems]
    if problems:
        raise AnswersError(*problems)
    return tuple(found)


def answers_json(answers: Iterable[Answer]) -> dict[str, Any]:
    """The answers as the plain data of their file."""
    return {
        "format": FORMAT,
        "answers": [
            ({"sheet": a.sheet} if a.sheet is not None else _picture(a)) | {"field": a.field, "value": a.value}
            for a in answers
        ],
    }


def _picture(answer: Answer) -> dict[str, Any]:
    return {"source": answer.source} | ({"page": answer.page} if answer.page != 1 else {})


def newest(*answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Several lists as one; of two answers for the same field the later counts."""
    return tuple({(a.place, a.field): a for some in answers for a in some}.values())


def by_place(answers: Iterable[Answer]) -> dict[str, dict[str, str]]:
    """The answers as the reader takes them."""
    found: dict[str, dict[str, str]] = {}
    for answer in answers:
        found.setdefault(answer.place, {})[answer.field] = answer.value
    return found


def for_copies(answers: Answers, names: Sequence[str]) -> Answers:
    """The answers, with those for any copy of a picture counting for the first of `names`."""
    found = dict(answers)
    for place, told in answers.items():
        for name in names[1:]:
            if place == name or place.startswith((f"{name}#", f"{name}/")):
                first = names[0] + place.removeprefix(name)
                found[first] = {**found.get(first, {}), **told}
    return found


def example(sheet: str | None, source: str, page: int, field: str, value: str) -> str:
    """A file with one answer, in one line."""
    answer = Answer(field, value, sheet=sheet) if sheet else Answer(field, value, source=source, page=page)
    return json.dumps(answers_json([answer]), ensure_ascii=False)


def _answer(item: object) -> Answer:
    if not isinstance(item, dict):
        raise AnswersError(Text("нужен объект в фигурных скобках", "an object in braces is needed"))
    if strangers := sorted(set(item) - {"sheet", "source", "page", "field", "value"}):
        raise AnswersError(Text(f"лишнее: {', '.join(strangers)}", f"unexpected: {', '.join(strangers)}"))
    words = {name: item[name] for name in ("sheet", "source", "field", "value") if name in item}
    for name, word in words.items():
        if not isinstance(word, str):
            raise AnswersError(Text(f"«{name}» должно быть строкой в кавычках", f"“{name}” must be a string"))
    if missing := [name for name in ("field", "value") if name not in words]:
        raise AnswersError(Text(f"нет «{missing[0]}»", f"there is no “{missing[0]}”"))
    if ("sheet" in words) == ("source" in words):
        raise AnswersError(
            Text(
                "нужно одно из двух: «sheet» (номер листа) или «source» (имя снимка)",
                "one of “sheet” (its number) and “source” (the picture's name) is needed",
            )
        )
    page = item.get("page", 1)
    if not isinstance(page, int) or isinstance(page, bool) or page < 1 or ("page" in item and "sheet" in words):
        raise AnswersError(
            Text("«page» — номер страницы снимка, целое от 1", "“page” is a page of the picture, whole, from 1")
        )
    field, value = words["field"], words["value"]
    sheet = _sheet(words["sheet"]) if "sheet" in words else None
    if field == "sheet":
        if sheet is not None:
            raise AnswersError(
                Text(
                    "код листа («field»: «sheet») указывают для снимка: нужен «source»",
                    "a sheet's code (“field”: “sheet”) is told of a picture: “source” is needed",
                )
            )
        try:
            decode(value)
        except IdentityError as error:
            raise AnswersError(Text(f"«{value}» — не код листа, в нём опечатка", str(error))) from error
    else:
        _check_value(field, value)
    return Answer(field, value, sheet, words.get("source"), page)


def _sheet(word: str) -> str:
    found = _SHEET_ID.fullmatch(word.strip().upper())
    if found is None:
        raise AnswersError(
            Text(
                f"«{word}» — не номер листа: он такой — 7K3M-9RXA",
                f"“{word}” is no sheet's number: they look like 7K3M-9RXA",
            )
        )
    return f"{found[1]}-{found[2]}"


def _check_value(field: str, value: str) -> None:
    kind = _kinds().get(re.sub(r"^d(?!00)\d\d+\.", "d01.", field))
    if kind is None:
        raise AnswersError(Text(f"нет такой клетки: {field}", f"there is no such field: {field}"))
    pattern, expected = _VALUES[kind]
    if not pattern.fullmatch(value):
        raise AnswersError(
            Text(f"{field}: «{value}» не подходит, нужно {expected.ru}", f"{field}: “{value}”, expected {expected.en}")
        )


@cache
def _kinds() -> Mapping[str, str]:
    """What may stand in every field that is read, those of the first deal standing for all."""
    return {
        field.id: "balance" if field.column in ("result", "mountain") else field.kind
        for form in known_forms()
        for field in form.fields
        if field.kind != "text" and field.deal in (None, 0, 1)
    }
