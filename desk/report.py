"""Results for people: what a reading, a settlement, a check or a convention says, in lines and tables."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from desk.edge import Lang, in_file
from desk.words import field_text, like_text, player_text, value_text
from scoring.convention import Convention, ConventionError, describe, load_convention
from scoring.text import Text, figure_text, plain_name, seat_text

LEAST_WIDTH = 110
"""Tables sent to a file or a pipe get this many columns; a terminal says its own."""


class _Output(Console):
    """Standard output; that nobody listens any more is for the edge of the program to see."""

    def on_broken_pipe(self) -> None:
        """Rich would end the program here with a code of its own."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output, in colour and width as the terminal has them."""
    out = _Output(highlight=False, markup=False, emoji=False)
    return out if out.is_terminal else _Output(highlight=False, markup=False, emoji=False, width=LEAST_WIDTH)


def _table(*heads: str, numbers: Sequence[int] = ()) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, head in enumerate(heads):
        table.add_column(head, justify="right" if i in numbers else "left")
    return table


# --- a settlement and a check -----------------------------------------------------------------------------------------


def show_settlement(out: Console, report: Mapping[str, Any], names: Mapping[str, str], lang: Lang) -> None:
    """A `pulka-settlement/1`: the ledger deal by deal with reasons, the totals, the working and the result."""
    if report["ledger"]:
        heads = Text("сдача|запись|прибавилось|стало|за что", "deal|entry|added|total|why").in_(lang).split("|")
        table = _table(*heads, numbers=(0, 2, 3))
        for deal in report["ledger"]:
            number = str(deal["deal"])
            for entry in deal["entries"]:
                cell = ".".join(part for part in (entry["column"], entry["seat"], entry["on"]) if part)
                added = figure_text(entry["add"])
                table.add_row(
                    number,
                    field_text(cell).in_(lang),
                    added if added.startswith("−") else "+" + added,
                    figure_text(entry["total"]),
                    entry["why"],
                )
                number = ""
        out.print(table)
    seats = list(report["totals"])
    pool, mountain, on = Text("пуля|гора|на ", "pool|mountain|on ").in_(lang).split("|")
    table = _table("", pool, mountain, *(on + seat_text(s).in_(lang) for s in seats), numbers=range(1, 10))
    for seat, total in report["totals"].items():
        whists = ["" if s == seat else figure_text(total["whists"][s]) for s in seats]
        row = [figure_text(total["pool"]), figure_text(total["mountain"]), *whists]
        table.add_row(player_text(seat, names, lang), *row)
    out.print(table)
    for step in report["steps"]:
        out.print(_step(step, lang), soft_wrap=True)
    out.print()
    exact, whole = Text("точно|в целых вистах", "exact|in whole whists").in_(lang).split("|")
    table = _table(Text("Результат", "Result").in_(lang), exact, whole, numbers=(1, 2))
    for seat, figure in report["settlement"].items():
        table.add_row(player_text(seat, names, lang), figure_text(figure), figure_text(report["rounded"][seat]))
    out.print(table)
    if money := report.get("money"):
        table = _table(Text("Деньги", "Money").in_(lang), "", numbers=(1,))
        for seat, amount in money.items():
            table.add_row(player_text(seat, names, lang), figure_text(amount))
        out.print(table)
    if allowed := report.get("permitted"):
        title = ["По правилу 4.2.12 допустимы:", "Rule 4.2.12 permits:"]
        out.print(Text(*title).in_(lang))
        for result in allowed:
            out.print("  " + ", ".join(f"{seat_text(s).in_(lang)} {figure_text(v)}" for s, v in result.items()))
    for note in report.get("notes", []):
        out.print("· " + note, soft_wrap=True)


def _step(step: Mapping[str, Any], lang: Lang) -> str:
    parts = []
    for key, figure in step["figures"].items():
        who = [seat_text(seat).in_(lang) for seat in key.split("-")]
        parts.append(Text(" на ", " on ").in_(lang).join(who) + " " + figure_text(figure))
    return "  " + step["text"] + (": " + ", ".join(parts) if parts else "")


def show_check(
    out: Console,
    report: Mapping[str, Any],
    names: Mapping[str, str],
    lang: Lang,
    *,
    fines: bool = False,
    by_totals: bool = False,
    asked: Collection[str] = (),
) -> None:
    """A `pulka-check/1`: every mistake with what it cost, the notes, and both settlements.

    Of a record that has totals alone (`by_totals`) the two are what follows from them and what the players made of it.
    `asked` are the fields of a sheet that a person is asked about.
    """
    if report["message"]:
        out.print(report["message"], soft_wrap=True)
    elif report["mistakes"]:
        _mistakes(out, report["mistakes"], lang, asked, fines=fines)
    elif asked:
        out.print(Text("В том, что прочитано, ошибок нет.", "No mistakes in what was read.").in_(lang))
    else:
        out.print(Text("Ошибок в записях нет.", "No mistakes in the writing.").in_(lang))
    for difference in report.get("differences", []):
        out.print("≠ " + difference["message"], soft_wrap=True)
    for note in report["notes"]:
        out.print("· " + note["message"], soft_wrap=True)
    if report["result"]:
        out.print(report["result"]["message"], soft_wrap=True)
    played = report["settlement"]["played"]
    if played and by_totals:
        apart = report["result"]["differences"] if report["result"] else None
        theirs = {seat: str(Fraction(played[seat]) + Fraction(apart[seat])) for seat in played} if apart else None
        heads = Text("в вистах|по итогам|у игроков|разница", "in whists|by the totals|the players'|difference")
        show_both(out, {"played": played, "written": theirs}, names, lang, heads)
    elif played:
        show_both(out, report["settlement"], names, lang)


PERHAPS = Text("возможно: ", "perhaps: ")
"""Before what comes of a field that a person is asked about."""


def show_open(out: Console, file: str, count: int, lang: Lang) -> None:
    """That questions of a sheet are open, how many, and what this means for all that follows."""
    if not count:
        return
    questions = "1 question of this sheet is" if count == 1 else f"{count} questions of this sheet are"
    said = Text(
        f"на этом листе не отвечено вопросов: {count} (их задаёт pulka read) — всё, что ниже, предварительно",
        f"{questions} open (pulka read asks them): what follows is not final",
    )
    out.print(in_file(file, said).in_(lang), style="bold yellow", soft_wrap=True)


def _mistakes(
    out: Console, mistakes: Sequence[Mapping[str, Any]], lang: Lang, asked: Collection[str], *, fines: bool = False
) -> None:
    out.print(Text("Ошибки в записях:", "Mistakes in the writing:").in_(lang), style="bold red")
    for mistake in mistakes:
        out.print("  " + (PERHAPS.in_(lang) if mistake["field"] in asked else "") + mistake["message"], soft_wrap=True)
        if cost := mistake.get("cost"):
            moved = [f"{seat_text(s).in_(lang)} {_signed(v)}" for s, v in cost.items() if v != "0"]
            if moved:
                out.print(
                    Text("    в расчёте: ", "    in the settlement: ").in_(lang) + ", ".join(moved), soft_wrap=True
                )
        if fines and mistake.get("fine"):
            out.print("    " + mistake["fine"]["message"], soft_wrap=True)


def _signed(figure: str) -> str:
    shown = figure_text(figure)
    return shown if shown.startswith("−") or figure == "0" else "+" + shown


_BOTH = Text("в вистах|по сдачам|по записям|разница", "in whists|as played|as written|difference")


def show_both(
    out: Console, settlement: Mapping[str, Any], names: Mapping[str, str], lang: Lang, heads: Text = _BOTH
) -> None:
    """The settlement as played and as written, side by side."""
    played, written = settlement["played"], settlement["written"]
    known = played or written
    if not known:
        return
    table = _table(*heads.in_(lang).split("|"), numbers=(1, 2, 3))
    for seat in known:
        row = [figure_text(side[seat]) if side else "—" for side in (played, written)]
        apart = ""
        if played and written and played[seat] != written[seat]:
            apart = _signed(str(Fraction(written[seat]) - Fraction(played[seat])))
        table.add_row(player_text(seat, names, lang), *row, apart)
    out.print(table)


# --- readings ---------------------------------------------------------------------------------------------------------


def show_reading(out: Console, reading: Mapping[str, Any], lang: Lang, *, alone: bool = True) -> None:
    """One `pulka-reading/1` that is a sheet: which, what must be looked at, the mistakes, both settlements.

    `alone` says that no other sheet is in its picture, so that what is answered for the picture is for this sheet.
    """
    sheet = reading["sheet"]
    out.print(title_of(reading, lang), style="bold", soft_wrap=True)
    out.print("  " + _status(reading, lang), soft_wrap=True)
    if reading["review"]:
        out.print(Text("Посмотрите сами:", "Please look yourself:").in_(lang), style="bold yellow")
        questions = reading["review"]
        if is_unknown(reading):
            questions = [question for question in questions if question["field"] == "sheet"]
        hidden = [question for question in questions if _unseen(reading, question)]
        for question in questions:
            if question in hidden and len(hidden) > MOST_HIDDEN:
                continue
            told = reading["fields"].get(question["field"], {}).get("why") == "person"
            line = Line("  " + question_line(question, lang, unseen=question in hidden, told=told))
            if question["field"] == "sheet":
                line.append("; " + _how_to_name(reading, question, alone=alone).in_(lang))
            out.print(line.append(f"  [{question['field']}]", style="dim"), soft_wrap=True)
        if len(hidden) > MOST_HIDDEN:
            names = sorted(q["field"] for q in hidden)
            first, last = (field_text(name).in_(lang) for name in (names[0], names[-1]))
            said = Text(
                f"нужных клеток не видно: {len(hidden)} ({first} … {last}); снимите лист ещё раз и прочитайте оба "
                "снимка вместе: они сложатся в один",
                f"{len(hidden)} boxes that matter cannot be seen ({first} … {last}): take another photo and read both "
                "together, they are put together",
            )
            out.print("  " + said.in_(lang), soft_wrap=True)
        if later := len(reading["review"]) - len(questions):
            boxes = "1 more box" if later == 1 else f"{later} more boxes"
            said = Text(
                f"и ещё клеток: {later} — их черёд придёт, когда лист станет известен: правила ответят на многое",
                f"and {boxes} to look at once the sheet is known: its rules will settle many of them",
            )
            out.print("  " + said.in_(lang), soft_wrap=True)
    if reading["mistakes"]:
        _mistakes(out, reading["mistakes"], lang, [question["field"] for question in reading["review"]])
    for note in reading["notes"]:
        out.print("· " + note, style="dim", soft_wrap=True)
    if not _is_blank(reading):
        show_both(out, reading["settlement"], sheet["names"], lang)
        known = reading["settlement"]["played"] or reading["settlement"]["written"]
        if known and (count := len(reading["review"])):
            said = Text(f"предварительно: вопросов без ответа: {count}", f"not final: questions open: {count}")
            out.print(said.in_(lang), style="bold yellow", soft_wrap=True)


def is_unknown(reading: Mapping[str, Any]) -> bool:
    """Whether nobody knows yet by which rules the sheet was played, so that no game could be made out on it."""
    return any(question["field"] == "sheet" for question in reading["review"]) and reading["game"] is None


def _is_blank(reading: Mapping[str, Any]) -> bool:
    """Whether no box of the sheet has anything in it, and nothing is asked about any."""
    seen = {field["state"] for field in reading["fields"].values()} - {"unreadable"}
    return seen == {"empty"} and not reading["review"]


MOST_HIDDEN = 6
"""More boxes out of sight than this are told in one line: another photo is sooner taken than all of them answered."""


def _unseen(reading: Mapping[str, Any], question: Mapping[str, Any]) -> bool:
    """Whether a question is about a box that cannot be seen in the photo."""
    read = reading["fields"].get(question["field"])
    return read is not None and read["state"] == "unreadable"


def is_copy_question(reading: Mapping[str, Any], question: Mapping[str, Any]) -> bool:
    """Whether a question is which of two papers with one code a sheet is."""
    return question["field"] == "sheet" and question["best"] == reading["sheet"]["id"]


def _can_be_named(reading: Mapping[str, Any], question: Mapping[str, Any]) -> bool:
    """Whether a sheet's code is the answer to a question about the sheet as a whole."""
    return reading["sheet"]["code"] is None or is_copy_question(reading, question)


def _how_to_name(reading: Mapping[str, Any], question: Mapping[str, Any], *, alone: bool) -> Text:
    """What to do about a question about the sheet as a whole."""
    if not _can_be_named(reading, question):
        return Text("ответом этого не исправить: обновите программу", "no answer helps here: update the program")
    if not alone:
        return Text(
            "на снимке не один лист, и ответить нельзя: снимите этот лист отдельно и прочитайте снова",
            "it is not the only sheet in the photo and cannot be answered: take a photo of it alone and read again",
        )
    if reading["sheet"]["code"] is None:
        return Text(
            "снимите лист так, чтобы был виден хоть один квадратный код, или ответьте «кодом листа»: он напечатан "
            "буквами",
            "take another photo in which one of its square codes can be seen, or answer with the “sheet code” printed "
            "on it in letters",
        )
    return Text(
        "ответ — «код листа» буквами: с этого листа, если за его столом и играли, или с чистого бланка того стола, где "
        "играли на самом деле",
        "the answer is a “sheet code” in letters: this sheet's, if it was played at its own table, or that of a "
        "blank of the table where it was really played",
    )


def alone_in_their_pictures(readings: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Of each reading whether no other sheet is in its picture."""
    count = Counter(page for reading in readings for page in _pages_of(reading))
    return [all(count[page] == 1 for page in _pages_of(reading)) for reading in readings]


def _pages_of(reading: Mapping[str, Any]) -> set[tuple[str, int]]:
    return {(name, page) for name, pages in reading["pages"].items() for page in pages}


def show_unreadable(out: Console, failed: Sequence[Mapping[str, Any]], lang: Lang) -> None:
    """What could not be read, with the reason and what to do, at the end of everything."""
    if not failed:
        return
    count = sum(len(reading["pictures"]) for reading in failed)
    out.print(Text(f"Не прочитано снимков: {count}", f"Photos not read: {count}").in_(lang), style="bold red")
    for reading in failed:
        source = source_of(reading, lang)
        out.print(f"  {source}: {reading['reason']}", soft_wrap=True)


def show_how_to_answer(out: Console, readings: Sequence[Mapping[str, Any]], lang: Lang) -> None:
    """How a person tells the program what stands in the fields asked about, with one of them as the example.

    What stands there is left open: an example that named the likeliest value would be sent back unread.
    """
    from desk.answers import example  # all that reads pictures comes with it, which a settlement need not wait for

    for reading, alone in zip(readings, alone_in_their_pictures(readings), strict=True):
        sheet = (reading["sheet"] or {}).get("id")
        if any(is_copy_question(reading, question) for question in reading["review"]):
            sheet = None  # two papers have this number
        if sheet is None and not alone:
            continue
        for question in reading["review"]:
            of_sheet = question["field"] == "sheet"
            if is_unknown(reading) and not of_sheet:
                continue
            if (of_sheet and not _can_be_named(reading, question)) or _unseen(reading, question):
                continue  # nothing that can be answered in a file, or from the photo
            out.print(_HOW_TO_ANSWER.in_(lang), style="dim", soft_wrap=True)
            value = "935S 9A43 …" if of_sheet else "…"
            (picture, pages), *_ = reading["pages"].items()
            line = example(sheet, picture, pages[0], question["field"], value)
            out.print("  " + line, style="dim", soft_wrap=True)
            if not of_sheet:
                out.print(_WHAT_TO_PUT.in_(lang), style="dim", soft_wrap=True)
            return


_HOW_TO_ANSWER = Text(
    "Посмотрите на бумагу, запишите ответы в файл и прочитайте ещё раз с --answers ФАЙЛ; имя клетки — в квадратных "
    "скобках после вопроса. Файл такой:",
    "Look at the paper, write the answers into a file and read again with --answers FILE; a field's name is in square "
    "brackets after its question. The file looks like this:",
)
_WHAT_TO_PUT = Text(
    'Вместо … впишите то, что стоит на бумаге: число, "-" — прочерк, "x" — отметка, "" — пусто. Ответы в фигурных '
    "скобках идут через запятую.",
    'Put what stands on the paper in place of …: a number, "-" for a dash, "x" for a mark, "" for nothing. Several '
    "answers, each in braces, are set apart by commas.",
)


def title_of(reading: Mapping[str, Any], lang: Lang) -> str:
    """Which sheet a reading is of, in one line."""
    sheet = reading["sheet"]
    source = source_of(reading, lang)
    parts = [plain_name(str(sheet["event"]))] if sheet.get("event") else []
    if sheet["round"] is not None:
        parts.append(Text(f"тур {sheet['round']}", f"round {sheet['round']}").in_(lang))
    if sheet["table"] is not None:
        parts.append(Text(f"стол {sheet['table']}", f"table {sheet['table']}").in_(lang))
    if sheet["convention"]:
        parts.append(convention_title(sheet["convention"], lang))
    if sheet["pool"] is not None:
        parts.append(Text(f"пуля до {sheet['pool']}", f"pool to {sheet['pool']}").in_(lang))
    if sheet["id"]:
        parts.append(Text(f"лист {sheet['id']}", f"sheet {sheet['id']}").in_(lang))
    return f"{source}: " + ", ".join(parts) if parts else source


def source_of(reading: Mapping[str, Any], lang: Lang) -> str:
    """The pictures that a reading is from: their files, and of each the pages where it is not the first alone."""
    named = {name: pages for name, pages in reading["pages"].items() if pages != [1]}
    said = []
    for name, pages in reading["pages"].items():
        *more, last = map(str, pages)
        listed = ", ".join(more) + Text(" и ", " and ").in_(lang) + last if more else last
        said.append(plain_name(name) + (Text(f", с. {listed}", f", p. {listed}").in_(lang) if name in named else ""))
    return ("; " if named else ", ").join(said)


def _status(reading: Mapping[str, Any], lang: Lang) -> str:
    if _is_blank(reading):
        nothing = Text("на этом листе ничего не написано", "nothing is written on this sheet")
        if any(field["state"] == "unreadable" for field in reading["fields"].values()):
            nothing += Text(", насколько его видно", " as far as it can be seen")
        return nothing.in_(lang)
    if is_unknown(reading):
        unknown = Text(
            "лист не опознан: ни игра, ни записи ещё не проверены",
            "the sheet is not known: neither its game nor its writing is checked yet",
        )
        return unknown.in_(lang)
    deals = len((reading["game"] or {}).get("deals", ()))
    asked, wrong = len(reading["review"]), len(reading["mistakes"])
    said = [Text(f"сдач: {deals}", f"deals: {deals}").in_(lang)]
    if asked:
        said.append(Text(f"вопросов: {asked}", f"questions: {asked}").in_(lang))
    else:
        said.append(Text("всё прочитано уверенно", "all read with certainty").in_(lang))
    said.append(
        Text(f"ошибок в записях: {wrong}", f"mistakes in the writing: {wrong}").in_(lang)
        if wrong
        else Text("ошибок в записях нет", "no mistakes in the writing").in_(lang)
    )
    return ", ".join(said)


def question_line(question: Mapping[str, Any], lang: Lang, *, unseen: bool = False, told: bool = False) -> str:
    """A question in words: «сдача 7, взятки В: похоже на 3, а может быть, 8 — написано неразборчиво».

    `unseen` says that the box is out of sight, `told` that what it holds is a person's own answer.
    """
    line = field_text(question["field"]).in_(lang)
    # 06 is a 6, and not another reading of it.
    different = {
        _plain_number(v): None for v in question["other"] if _plain_number(v) != _plain_number(question["best"])
    }
    *first, last = (value_text(v).in_(lang) for v in different) if different else ("",)
    others = ", ".join(first) + (Text(" или ", " or ").in_(lang) if first else "") + last
    if unseen:
        expected = Text(f" (ожидается {others})", f" (expected: {others})").in_(lang) if others else ""
        return f"{line}: {question['why']}{expected}"
    if told:
        answered = value_text(question["best"])
        line += Text(f": ваш ответ — {answered.ru}", f": you answered {answered.en}").in_(lang)
    elif question["field"] != "sheet":
        best = like_text(question["best"])
        line += Text(f": похоже на {best.ru}", f": looks like {best.en}").in_(lang)
    if others:
        line += Text(", а может быть, ", ", or perhaps ").in_(lang) + others
    return f"{line} — {question['why']}"


def _plain_number(value: str) -> str:
    """What stands in a field, a number without the noughts before it: so it is answered."""
    return str(int(value)) if value.isdecimal() else value


def convention_title(name: str, lang: Lang) -> str:
    """The title of a convention, or its name where this program does not know it."""
    try:
        return load_convention(name).title.in_(lang)
    except ConventionError:
        return name


# --- conventions ------------------------------------------------------------------------------------------------------


def show_conventions(out: Console, known: Sequence[Convention], lang: Lang) -> None:
    """The conventions there are, a line each."""
    table = _table(*Text("имя|конвенция|по чему", "name|convention|source").in_(lang).split("|"))
    for convention in known:
        table.add_row(convention.name, convention.title.in_(lang), convention.source)
    out.print(table)


def show_convention(out: Console, convention: Convention, lang: Lang) -> None:
    """One convention, everything it says."""
    for line in describe(convention):
        out.print(line.in_(lang), soft_wrap=True)
