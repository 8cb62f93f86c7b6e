"""What people answered: `pulka-answers/1`, the values that stand in fields which the picture alone leaves in doubt."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from recognize.identify import known_forms
from recognize.pipeline import picture_key
from scoring.files import RecordError, json_in, lines_in
from scoring.text import Text
from templates import IdentityError, decode

FORMAT = "pulka-answers/1"

_SHEET_ID = re.compile(r"([0-9A-HJKMNPRSTUVWXYZ]{4})[- ]?([0-9A-HJKMNPRSTUVWXYZ]{4})")
_VALUES = {
    "mark": (re.compile(r"x?"), Text("«x» (отметка) или пусто", "“x” (a mark) or nothing")),
    "number": (
        re.compile(r"|-|0|[1-9][0-9]{0,3}"),
        Text("целое число до 9999, «-» или пусто", "a whole number up to 9999, “-” or nothing"),
    ),
    "tricks": (
        re.compile(r"|-|[0-9]|10"),
        Text(
            "число от 0 до 10, «-» или пусто: больше десяти взяток не бывает", "a number from 0 to 10, “-” or nothing"
        ),
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
    """The answers of a file. Raises AnswersError with every problem in it, each with its line and what is wanted."""
    try:
        data = json_in(text)
    except RecordError as error:
        raise AnswersError(*(problem.text for problem in error.problems)) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise AnswersError(_NO_ANSWERS)
    if strangers := sorted(set(data) - {"format", "answers"}):
        raise AnswersError(_unexpected(strangers, '"format", "answers"'))
    listed = data.get("answers")
    if not isinstance(listed, list):
        raise AnswersError(
            Text(
                'нужен список ответов в квадратных скобках: "answers": […]',
                'it must have a list of answers in square brackets: "answers": […]',
            )
        )
    lines, repeated = lines_in(text)
    found: list[Answer] = []
    told: dict[tuple[str, str], tuple[int, str]] = {}
    problems: list[Text] = []
    for number, item in enumerate(listed, 1):
        path = ("answers", number - 1)
        try:
            if twice := [str(name) for *at, name in repeated if tuple(at) == path]:
                raise AnswersError(
                    Text(f"«{twice[0]}» встречается дважды", f"“{twice[0]}” occurs twice"),
                )
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
            line = lines.get(path, 1)
            at = Text(f"строка {line}, ответ {number}: ", f"line {line}, answer {number}: ")
            problems += [at + problem for problem in error.problems]
    if problems:
        raise AnswersError(*problems)
    return tuple(found)


_EXAMPLE = '{"sheet": "7K3M-9RXA", "field": "d07.tricks.C", "value": "3"}'
_NO_ANSWERS = Text(
    f'это не файл ответов, он такой: {{"format": "{FORMAT}", "answers": [{_EXAMPLE}]}}',
    f'this is no file of answers, they look like this: {{"format": "{FORMAT}", "answers": [{_EXAMPLE}]}}',
)


def _unexpected(strangers: Sequence[str], known: str) -> Text:
    listed = ", ".join(strangers)
    return Text(f"лишнее: {listed}; здесь бывают {known}", f"unexpected: {listed}; known here are {known}")


def answers_json(answers: Iterable[Answer]) -> dict[str, Any]:
    """The answers as the plain data of their file."""
    return {
        "format": FORMAT,
        "answers": [
            ({"sheet": a.sheet} if a.sheet is not None else _picture(a)) | {"field": a.field, "value": a.value}
            for a in answers
        ],
    }


def answers_text(answers: Iterable[Answer]) -> str:
    """The answers as their file, one a line: so that a person can take one out."""
    lines = ",\n".join(" " + json.dumps(one, ensure_ascii=False) for one in answers_json(answers)["answers"])
    return f'{{"format": "{FORMAT}", "answers": [\n{lines}]}}\n'


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


def example(sheet: str | None, source: str, page: int, field: str, value: str) -> str:
    """A file with one answer, in one line."""
    answer = Answer(field, value, sheet=sheet) if sheet else Answer(field, value, source=source, page=page)
    return json.dumps(answers_json([answer]), ensure_ascii=False)


def _answer(item: object) -> Answer:
    if not isinstance(item, dict):
        raise AnswersError(
            Text(f"ответ пишут в фигурных скобках: {_EXAMPLE}", f"an answer is written in braces: {_EXAMPLE}")
        )
    if strangers := sorted(set(item) - {"sheet", "source", "page", "field", "value"}):
        raise AnswersError(_unexpected(strangers, '"sheet", "source", "page", "field", "value"'))
    words = {name: item[name] for name in ("sheet", "source", "field", "value") if name in item}
    for name, word in words.items():
        if not isinstance(word, str):
            raise AnswersError(
                Text(
                    f'после "{name}" пишут в кавычках, например "3"',
                    f'what follows "{name}" is written in quotation marks, such as "3"',
                )
            )
    if missing := [name for name in ("field", "value") if name not in words]:
        raise AnswersError(
            Text(f'нет "{missing[0]}"; ответ пишут так: {_EXAMPLE}', f'"{missing[0]}" is missing; write {_EXAMPLE}')
        )
    if ("sheet" in words) == ("source" in words):
        raise AnswersError(
            Text(
                'нужно одно из двух: "sheet" (номер листа) или "source" (имя снимка)',
                'one of "sheet" (its number) and "source" (the picture\'s name) is needed',
            )
        )
    page = item.get("page", 1)
    if not isinstance(page, int) or isinstance(page, bool) or page < 1 or ("page" in item and "sheet" in words):
        raise AnswersError(
            Text(
                '"page" — номер страницы снимка, целое число от 1 без кавычек, и пишут его только с "source"',
                '"page" is a page of the picture: a whole number from 1, not in quotes, with "source" only',
            )
        )
    sheet = sheet_number(words["sheet"]) if "sheet" in words else None
    if words["field"].strip() == "sheet":
        return Answer("sheet", _code(words["value"], sheet), None, words.get("source"), page)
    field = _field(words["field"].strip())
    return Answer(field, _value(field, words["value"]), sheet, words.get("source"), page)


def _code(value: str, sheet: str | None) -> str:
    if sheet is not None:
        raise AnswersError(
            Text(
                'код листа ("field": "sheet") указывают для снимка: нужен "source"',
                'a sheet\'s code ("field": "sheet") is told of a picture: "source" is needed',
            )
        )
    try:
        decode(value)
    except IdentityError as error:
        raise AnswersError(
            Text(
                f"«{value}» — не код листа, в нём опечатка: сверьте с напечатанным на листе буквами",
                f"{error}; compare it with what is printed on the sheet in letters",
            )
        ) from error
    return value


_LATIN = str.maketrans("АВЕКМНРСТУХ", "ABEKMHPCTYX")
"""The Latin capitals that Russian ones look like; a sheet's number has no others."""


def sheet_number(word: str) -> str:
    """A sheet's short number as it is kept, in whatever alphabet it was typed; AnswersError where it is none."""
    found = _SHEET_ID.fullmatch(word.strip().upper().translate(_LATIN))
    if found is None:
        raise AnswersError(
            Text(
                f"«{word}» — не номер листа: он такой — 7K3M-9RXA",
                f"“{word}” is no sheet's number: they look like 7K3M-9RXA",
            )
        )
    return f"{found[1]}-{found[2]}"


_SEATS = {"А": "A", "Б": "B", "С": "C", "Г": "D"}
"""The seats that Russian letters mean. The third seat's own is missing: it looks like the Latin one of the second."""
_SMALL = str.maketrans("асеорхук", "aceopxyk")


def _field(word: str) -> str:
    """A field's name as forms have it, whatever alphabet its letters were typed in; AnswersError where it is none."""
    parts = word.split(".")
    if "В" in parts:
        raise AnswersError(
            Text(
                f"{word}: русская «В» — это место B или C? Места пишут латинскими буквами: А Б В Г — это A B C D",
                f"{word}: the Russian “В” may be seat B or C; write seats in Latin letters",
            )
        )
    field = ".".join(_SEATS.get(part, part.translate(_SMALL)) for part in parts)
    if _kind(field) is None:
        raise AnswersError(
            Text(
                f"нет такой клетки: {word}; имена клеток стоят в квадратных скобках после вопросов",
                f"there is no such field: {word}; a field's name stands in square brackets after its question",
            )
        )
    return field


_MARK = dict.fromkeys("xXхХ", "x")
_DASH = str.maketrans("−–—", "---")


def _value(field: str, word: str) -> str:
    """What stands in a field, the mark and the dash in the only letters that files have for them."""
    value = _MARK.get(word.strip(), word.strip().translate(_DASH))
    pattern, expected = _VALUES[_kind(field) or ""]
    if not pattern.fullmatch(value):
        raise AnswersError(
            Text(f"{field}: «{word}» не подходит, нужно {expected.ru}", f"{field}: “{word}”, expected {expected.en}")
        )
    return value


def _kind(field: str) -> str | None:
    """What may stand in a field; None where no form has it."""
    return _kinds().get(re.sub(r"^d(?!00)\d\d+\.", "d01.", field))


@cache
def _kinds() -> Mapping[str, str]:
    """What may stand in every field that is read, those of the first deal standing for all."""
    return {
        field.id: {"result": "balance", "mountain": "balance", "tricks": "tricks"}.get(field.column, field.kind)
        for form in known_forms()
        for field in form.fields
        if field.kind != "text" and field.deal in (None, 0, 1)
    }
