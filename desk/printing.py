"""`pulka print` and `pulka layout`: blank sheets as a PDF, each with its own code."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desk.edge import ExitCode, Lang, Stop, complain
from desk.order import MOST_SHEETS, Names, names_from, places_of, rules_of, seating_remarks, tables_of, too_many
from desk.printed import damage
from scoring.convention import option_text
from scoring.text import Text, system_text
from sheets import Sheet, SheetError, make_sheets, print_sheets, register_path, remember
from templates import Form, encode, sheet_id


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be printed, in the words of the command line: `options` are `NAME=VALUE`, `tables` such as `1-12`."""

    form: Form
    convention: str
    options: Sequence[str]
    pool: int | None
    event: str
    round: int | None
    tables: str | None
    names: Path | None
    copies: int


def refuse_paper(paper: str) -> None:
    """Stop where the paper is none that there are forms for."""
    if paper.lower() != "a4":
        raise Stop(
            Text(
                f"--paper {paper}: бланки есть только на A4; на другой бумаге печатайте тот же PDF, вписав его "
                "в страницу: лист прочтётся и так",
                f"--paper {paper}: there are forms for A4 only; on other paper print the same PDF fitted to the page: "
                "the sheet can be read all the same",
            )
        )


def print_order(order: Order, out: Path, lang: Lang) -> tuple[dict[str, Any], ExitCode]:
    """Print the sheets to a PDF and remember them: what was made as plain data, and how it ended.

    Stop where the order contradicts itself or cannot be printed, or where `out` is no place for it.
    """
    rules, changed = rules_of(order.convention, order.options)
    seated = names_from(order.names, order.form.seats) if order.names is not None else {}
    tables = _tables(order, seated)
    _refuse_occupied(out)
    try:
        made = make_sheets(
            order.form,
            convention=order.convention,
            convention_title=rules.title.in_(lang),
            pool=order.pool,
            event=" ".join(order.event.split()),
            round=order.round,
            tables=tables,
            names=seated,
            options=changed,
            options_in_words=[option_text(rules, name).in_(lang) for name in changed],
            copies=order.copies,
        )
        print_sheets(out, made, lang)
    except SheetError as error:
        said = Text(f"лист не напечатать: {error.ru}", f"the sheet cannot be printed: {error.en}")
        for name in dict.fromkeys(name for at_table in seated.values() for name in at_table.values()):
            if f"«{name}»" in error.ru:
                said += Text(" (", " (") + places_of(name, seated) + Text(")", ")")
        raise Stop(said) from error
    except OSError as error:
        raise Stop(Text(f"{out}: не записывается: ", f"{out}: cannot be written: ") + system_text(error)) from error
    if order.names is not None:
        for remark in seating_remarks(order.names, [t for t in tables if t is not None], seated, order.form.seats):
            complain(remark.in_(lang))
    listed = [{"table": s.identity.table, "id": sheet_id(s.identity), "code": encode(s.identity)} for s in made]
    return {"file": str(out), "sheets": listed}, _remembered(made, lang)


def _tables(order: Order, seated: Names) -> list[int | None]:
    """The tables to print for: those ordered, else those with names, else one that is nobody's."""
    numbers: list[int | None] = [*tables_of(order.tables)] if order.tables else [*sorted(seated)] or [None]
    if strangers := sorted(set(seated) - {n for n in numbers if n is not None}):
        listed = ", ".join(map(str, strangers))
        one = len(strangers) == 1
        raise Stop(
            Text(
                f"{order.names}: есть имена для {'стола' if one else 'столов'} {listed}, а в --tables {order.tables} "
                f"{'его' if one else 'их'} нет",
                f"{order.names}: there are names for {'table' if one else 'tables'} {listed}, "
                f"which {'is' if one else 'are'} not in --tables {order.tables}",
            )
        )
    if len(numbers) * order.copies > MOST_SHEETS:
        raise Stop(too_many(len(numbers) * order.copies))
    return numbers


def _remembered(made: Sequence[Sheet], lang: Lang) -> ExitCode:
    amiss = damage()
    try:
        remember(made)
    except OSError as error:
        # The sheets are good; only what is printed beyond their codes will have to be told again.
        ru, en = system_text(error).ru, system_text(error).en
        said = Text(
            f"листы напечатаны, но не внесены в список {register_path()} ({ru}): при чтении имена и турнир будут "
            "неизвестны; освободите место или укажите другую папку в PULKA_HOME",
            f"printed, but the list of sheets {register_path()} cannot be written ({en}): when read, names and event "
            "will be unknown; make room there, or name another folder in PULKA_HOME",
        )
        complain(said.in_(lang))
        return ExitCode.PERSON
    if amiss is not None:
        complain((Text("листы напечатаны и внесены, но ", "printed and remembered, but ") + amiss).in_(lang))
        return ExitCode.PERSON
    return ExitCode.DONE


def _refuse_occupied(out: Path) -> None:
    """Stop where the file is there already, or its folder is not, or where its name is that of no PDF.

    A PDF of sheets is never printed over: their codes are given out, and another printing has others.
    """
    if str(out) == "-":
        raise Stop(
            Text(
                "-o -: PDF не выводится на стандартный вывод, нужно имя файла",
                "-o -: a PDF is not written to standard output, a file name is needed",
            )
        )
    if out.is_dir():
        raise Stop(Text(f"{out}: это папка, нужно имя файла", f"{out}: this is a folder, a file name is needed"))
    if not out.parent.is_dir():
        raise Stop(Text(f"{out.parent}: нет такой папки", f"{out.parent}: there is no such folder"))
    if out.exists() and not out.is_file():
        raise Stop(
            Text(
                f"{out}: это не обычный файл (устройство, канал или сокет): выберите другое имя",
                f"{out}: this is no regular file (a device, a pipe or a socket): choose another name",
            )
        )
    if out.suffix.lower() != ".pdf":
        named = out.with_suffix(".pdf")
        raise Stop(
            Text(f"{out}: листы печатаются в PDF: назовите файл {named}", f"{out}: sheets are a PDF: name it {named}")
        )
    if out.exists():
        raise Stop(
            Text(
                f"{out}: такой файл уже есть, и он остаётся как был: выберите другое имя или сперва уберите его",
                f"{out}: the file exists and stays as it is: choose another name, or move it away first",
            )
        )
