"""The command line: `pulka` and its commands."""

try:  # loading takes a second or two, and whoever interrupts it needs no traceback
    import json
    import os
    import sys
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Annotated, Any

    import typer
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from desk.answers import Answer, AnswersError, answers_from
    from desk.batch import Batch, Engine, Picture, read_batch, read_here
    from desk.cluster import read_there
    from desk.demo import SEED, demo, demo_json, show_demo
    from desk.edge import Command, ExitCode, Group, Lang, Stop, both, complain, language, run, whole_number
    from desk.folder import Folder
    from desk.order import MOST_SHEETS, names_from, rules_of, tables_of, too_many
    from desk.report import (
        console,
        show_check,
        show_convention,
        show_conventions,
        show_how_to_answer,
        show_reading,
        show_settlement,
        show_unreadable,
    )
    from recognize.identify import tesseract_found
    from recognize.photo import PICTURES, find_pictures, plain_name
    from scoring import Convention, Game, convention_names, load_convention
    from scoring.audit import compare
    from scoring.convention import OPTIONS, ConventionError, option_text
    from scoring.files import Problem, RecordError, game_from_csv, game_from_json, read_convention, read_game
    from scoring.game import RuleError
    from scoring.report import check_report, settlement_report
    from scoring.settlement import METHODS
    from scoring.text import Text
    from sheets import SheetError, make_sheets, print_sheets, remember
    from templates import Form, FormError, encode, layout_json, load_form, sheet_id
except (KeyboardInterrupt, ImportError) as stopped:
    # A compiled library that is interrupted as it loads makes an ImportError of it.
    chain = (stopped, stopped.__cause__, stopped.__context__)
    if not any(isinstance(link, KeyboardInterrupt) for link in chain):
        raise
    raise SystemExit(130) from None

app = typer.Typer(cls=Group, add_completion=True, rich_markup_mode="rich", no_args_is_help=False)


def main() -> None:
    """The program `pulka`."""
    arguments = sys.argv[1:]
    sys.exit(run(app, arguments, language(arguments, os.environ)))


# --- what every command takes -----------------------------------------------------------------------------------------

LangOption = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="ru|en",
        show_default=False,
        help=both("Язык ответов, справки и листов: ru или en.", "The language of answers, help and sheets: ru or en."),
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help=both("Ответ в JSON.", "Answer as JSON."))]
FormArgument = Annotated[
    str,
    typer.Argument(metavar=both("БЛАНК", "FORM"), help=both("Название бланка: protocol.", "The form: protocol.")),
]
PlayersOption = Annotated[
    str,
    typer.Option(
        "--players", metavar="3|4", show_default=False, help=both("Сколько игроков (4).", "How many players (4).")
    ),
]
RowsOption = Annotated[
    str | None,
    typer.Option(
        "--rows",
        metavar=both("ЧИСЛО", "N"),
        show_default=False,
        help=both("Сколько строк-сдач; сколько входит, столько и можно.", "How many deals, as many as fit the page."),
    ),
]
RecordArgument = Annotated[
    str,
    typer.Argument(
        metavar=both("ФАЙЛ", "FILE"),
        help=both(
            "Запись игры, JSON или CSV; «-» — со стандартного ввода.",
            "A game record, JSON or CSV; “-” is standard input.",
        ),
    ),
]


def _example(command: str, english: str | None = None) -> str:
    return both(f"Пример:  {command}", f"Example:  {english or command}")


def _speak(lang: str | None) -> None:
    """Refuse a language that there is not; which one is spoken was settled before the commands were made."""
    if lang not in (None, "ru", "en"):
        raise Stop(Text(f"--lang {lang}: есть ru и en", f"--lang {lang}: there are ru and en"))


def _put_json(data: Any) -> None:
    # Where the output cannot hold every letter, JSON has a spelling for them that loses nothing.
    ascii_only = not (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print(json.dumps(data, ensure_ascii=ascii_only, indent=1))


@app.callback(
    invoke_without_command=True,
    help=both(
        "Протоколы преферанса: напечатать, прочитать с фотографии, рассчитать, найти ошибки.",
        "Score sheets for preferans: print them, read them from a photo, settle the game, find the mistakes.",
    ),
    epilog=_example("pulka demo"),
)
def _all(ctx: typer.Context, lang: LangOption = None) -> None:
    _speak(lang)
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


# --- print and layout -------------------------------------------------------------------------------------------------


@app.command(
    "print",
    cls=Command,
    help=both(
        "Напечатать бланки в PDF, каждый со своим кодом.", "Print blank sheets as a PDF, each with its own code."
    ),
    epilog=_example(
        'pulka print protocol --pool 20 --event "Кубок клуба" --round 1 --tables 1-12 -o tour1.pdf',
        'pulka print protocol --pool 20 --event "Club Cup" --round 1 --tables 1-12 -o round1.pdf',
    ),
)
def print_(
    ctx: typer.Context,
    form: FormArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            readable=False,
            metavar=both("ФАЙЛ.pdf", "FILE.pdf"),
            help=both("Куда записать.", "Where to."),
        ),
    ],
    players: PlayersOption = "4",
    convention: Annotated[
        str,
        typer.Option(
            "--convention",
            metavar=both("ИМЯ", "NAME"),
            show_default=False,
            help=both(
                "По каким правилам играют (sochi); все — «pulka conventions».",
                "The rules played by (sochi); all of them: “pulka conventions”.",
            ),
        ),
    ] = "sochi",
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool",
            metavar=both("ЧИСЛО", "N"),
            show_default=False,
            help=both("До скольких пуля; без него место остаётся пустым.", "The pool's limit; left blank without it."),
        ),
    ] = None,
    event: Annotated[
        str,
        typer.Option(
            "--event",
            metavar=both("НАЗВАНИЕ", "TITLE"),
            show_default=False,
            help=both("Название турнира.", "The event's title."),
        ),
    ] = "",
    round_: Annotated[
        str | None,
        typer.Option("--round", metavar=both("ЧИСЛО", "N"), show_default=False, help=both("Номер тура.", "The round.")),
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--tables",
            metavar="1-12",
            show_default=False,
            help=both("Номера столов: 1-12 или 1,3,5-8.", "Table numbers: 1-12 or 1,3,5-8."),
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            "--names",
            readable=False,
            metavar=both("ФАЙЛ", "FILE"),
            show_default=False,
            help=both(
                "Кто где сидит, CSV: стол;место;имя или стол;А;Б;В;Г.",
                "Who sits where, CSV: table;seat;name or table;A;B;C;D.",
            ),
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar=both("ИМЯ=ЗНАЧЕНИЕ", "NAME=VALUE"),
            show_default=False,
            help=both(
                "Отличие от конвенции, например whist=gentleman; можно несколько.",
                "A change to the convention, such as whist=gentleman; may be repeated.",
            ),
        ),
    ] = None,
    rows: RowsOption = None,
    copies: Annotated[
        str,
        typer.Option(
            "--copies",
            metavar=both("ЧИСЛО", "N"),
            show_default=False,
            help=both("Листов на стол (1), у каждого свой код.", "Sheets a table (1), each with its own code."),
        ),
    ] = "1",
    paper: Annotated[
        str,
        typer.Option("--paper", metavar="a4", show_default=False, help=both("Бумага (a4).", "The paper (a4).")),
    ] = "a4",
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Print blank sheets."""
    _speak(lang)
    speak: Lang = ctx.obj
    laid_out = _form(form, players, rows)
    limit, round_number = whole_number("--pool", pool), whole_number("--round", round_)
    count = whole_number("--copies", copies) or 1
    if paper.lower() != "a4":
        raise Stop(
            Text(
                f"--paper {paper}: бланки есть только на A4; на другой бумаге печатайте тот же PDF, вписав его "
                "в страницу: лист прочтётся и так",
                f"--paper {paper}: there are forms for A4 only; on other paper print the same PDF fitted to the page: "
                "the sheet can be read all the same",
            )
        )
    rules, changed = rules_of(convention, option or [])
    seated = names_from(names, laid_out.seats) if names is not None else {}
    numbers: list[int | None] = [*tables_of(tables)] if tables else [*sorted(seated)] or [None]
    if strangers := sorted(set(seated) - {n for n in numbers if n is not None}):
        listed = ", ".join(map(str, strangers))
        raise Stop(
            Text(
                f"{names}: есть имена для столов {listed}, а в --tables {tables} их нет",
                f"{names}: there are names for tables {listed}, which are not in --tables {tables}",
            )
        )
    if len(numbers) * count > MOST_SHEETS:
        raise Stop(too_many(len(numbers) * count))
    _refuse_foreign(out)
    try:
        made = make_sheets(
            laid_out,
            convention=convention,
            convention_title=rules.title.in_(speak),
            pool=limit,
            event=" ".join(event.split()),
            round=round_number,
            tables=numbers,
            names=seated,
            options=changed,
            options_in_words=[option_text(rules, name).in_(speak) for name in changed],
            copies=count,
        )
        print_sheets(out, made, speak)
    except SheetError as error:
        raise Stop(Text(f"лист не напечатать: {error.ru}", f"the sheet cannot be printed: {error.en}")) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stop(Text(f"{out}: не записывается ({reason})", f"{out}: cannot be written ({reason})")) from error
    code = ExitCode.DONE
    try:
        remember(made)
    except OSError as error:
        # The sheets are good; only what is printed beyond their codes will have to be told again.
        code = ExitCode.PERSON
        reason = error.strerror or str(error)
        said = Text(
            f"листы напечатаны, но не внесены в список ({reason}): при чтении имена и турнир будут неизвестны",
            f"printed, but the list of sheets cannot be written ({reason}): when read, names and event will be unknown",
        )
        complain(said.in_(speak))
    if as_json:
        _put_json(
            {
                "file": str(out),
                "sheets": [
                    {"table": s.identity.table, "id": sheet_id(s.identity), "code": encode(s.identity)} for s in made
                ],
            }
        )
    else:
        print(Text(f"{out}: листов {len(made)}", f"{out}: {len(made)} sheets").in_(speak))
    return code


def _form(name: str, players: str, rows: str | None) -> Form:
    count = whole_number("--players", players)
    try:
        return load_form(name, count or 0, whole_number("--rows", rows))
    except FormError as error:
        raise Stop(Text(error.ru, error.en)) from error


def _refuse_foreign(out: Path) -> None:
    """Stop where the file is there already and is not a PDF of ours, or its folder is not there."""
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
    try:
        foreign = out.is_file() and b"/Creator (pulka)" not in out.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stop(Text(f"{out}: не открывается ({reason})", f"{out}: cannot be opened ({reason})")) from error
    if foreign:
        raise Stop(
            Text(
                f"{out}: такой файл уже есть, и напечатан он не этой программой: выберите другое имя",
                f"{out}: the file exists, and it is not this program's: choose another name",
            )
        )


@app.command(
    "layout",
    cls=Command,
    help=both(
        "Показать геометрию бланка в JSON: где какое поле, в миллиметрах.",
        "Show a form's geometry as JSON: where each field is, in millimetres.",
    ),
    epilog=_example("pulka layout protocol --players 4"),
)
def layout(
    form: FormArgument,
    players: PlayersOption = "4",
    rows: RowsOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help=both("Ответ и так в JSON.", "The answer is JSON in any case."))
    ] = False,
    lang: LangOption = None,
) -> None:
    """Print the geometry of a form."""
    _speak(lang)
    _put_json(layout_json(_form(form, players, rows)))


# --- read -------------------------------------------------------------------------------------------------------------


@app.command(
    "read",
    cls=Command,
    help=both(
        "Прочитать листы с фотографий, сканов и PDF: игра, вопросы, ошибки в записях, расчёт.",
        "Read sheets from photos, scans and PDFs: the game, the questions, the mistakes, the settlement.",
    ),
    epilog=_example("pulka read photos/ -o readings"),
)
def read(
    ctx: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar=both("ПУТЬ…", "PATH…"),
            help=both(
                "Снимки, PDF или папки с ними; «-» — снимок со стандартного ввода.",
                "Pictures, PDFs, or folders of them; “-” is a picture on standard input.",
            ),
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            readable=False,
            metavar=both("ПАПКА", "DIR"),
            show_default=False,
            help=both(
                "Куда складывать прочитанное, JSON и картинку на снимок; что там есть, второй раз не читается.",
                "Where to keep the readings, a JSON and a picture for each; what is there is not read a second time.",
            ),
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers",
            readable=False,
            metavar=both("ФАЙЛ", "FILE"),
            show_default=False,
            help=both(
                "Ответы человека на вопросы, JSON; с -o они остаются в папке и учитываются и впредь.",
                "A person's answers to the questions, JSON; with -o they stay in the folder and count from then on.",
            ),
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help=both("Прочитать заново и то, что уже прочитано.", "Read again what is kept already.")
        ),
    ] = False,
    jobs: Annotated[
        str | None,
        typer.Option(
            "--jobs",
            metavar=both("ЧИСЛО", "N"),
            show_default=False,
            help=both("Сколько снимков читать сразу (по числу ядер).", "How many pictures at a time (one a core)."),
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar=both("АДРЕС", "ADDRESS"),
            show_default=False,
            help=both(
                "Читать на машинах кластера: адрес планировщика Dask, например 192.168.1.10:8786.",
                "Read on the machines of a cluster: the address of Dask's scheduler, such as 192.168.1.10:8786.",
            ),
        ),
    ] = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Read sheets."""
    _speak(lang)
    speak: Lang = ctx.obj
    at_once = whole_number("--jobs", jobs, most=256) or _cores()
    engine = read_there(cluster) if cluster is not None else read_here(at_once)
    told = _answers(answers) if answers is not None else ()
    if "" in paths:
        raise Stop(Text("пустой путь", "empty path"))
    found, missing = find_pictures([Path(path) for path in paths if path != "-"])
    pictures = [Picture(plain_name(path.name), path) for path in found]
    if "-" in paths:
        pictures.append(Picture("stdin", data=sys.stdin.buffer.read()))
    for path in missing:
        complain(Text(f"{path}: нет такого файла или папки", f"{path}: no such file or folder").in_(speak))
    if not pictures:
        if missing:
            return ExitCode.USAGE
        listed = ", ".join(paths)
        raise Stop(
            Text(
                f"{listed}: нет ни одного снимка; читаются {' '.join(PICTURES)}",
                f"{listed}: no picture in it; {' '.join(PICTURES)} can be read",
            )
        )
    batch = _read(pictures, out, speak, engine, told, again=again)
    readings = batch.readings
    for warning in batch.warnings:
        complain(warning.in_(speak))
    out_console = console()
    if not as_json:
        for reading in readings:
            if reading["status"] != "unreadable":
                show_reading(out_console, reading, speak)
        show_how_to_answer(out_console, readings, speak)
    failed = [reading for reading in readings if reading["status"] == "unreadable"]
    if as_json:
        _put_json(readings)
    else:
        show_unreadable(out_console, failed, len(readings), speak)
        if any(r["sheet"] and r["sheet"]["code"] is None for r in readings) and not tesseract_found():
            print(_ABOUT_TESSERACT.in_(speak))
    if missing:
        return ExitCode.USAGE
    if failed:
        return ExitCode.NO_SHEET
    asked = any(reading["review"] or reading["mistakes"] for reading in readings)
    return ExitCode.PERSON if asked else ExitCode.DONE


_ABOUT_TESSERACT = Text(
    "Если установить Tesseract, лист с испорченным квадратным кодом узнаётся по коду, напечатанному буквами.",
    "With Tesseract installed, a sheet whose square codes are spoilt can be told by its code in letters.",
)


def _cores() -> int:
    """The cores this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _answers(file: Path) -> tuple[Answer, ...]:
    try:
        return answers_from(file.read_text(encoding="utf-8-sig"))
    except AnswersError as error:
        raise Stop(*(_in_file(str(file), problem) for problem in error.problems)) from error
    except UnicodeDecodeError as error:
        raise Stop(_in_file(str(file), Text("это не текст в UTF-8", "this is not UTF-8 text"))) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stop(Text(f"{file}: не открывается ({reason})", f"{file}: cannot be opened ({reason})")) from error


def _read(
    pictures: Sequence[Picture], out: Path | None, lang: Lang, engine: Engine, answers: Sequence[Answer], *, again: bool
) -> Batch:
    """Read the pictures, kept in the folder `out` and taken from there, and show how far it is."""
    try:
        folder = Folder(out, lang) if out is not None else None
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stop(
            Text(f"{out}: папку не создать ({reason})", f"{out}: the folder cannot be made ({reason})")
        ) from error

    def track(steps: Iterator[Any], total: int) -> Iterator[Any]:
        what, left = Text("Чтение|осталось", "Reading|left").in_(lang).split("|")
        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(left), TimeRemainingColumn())
        shown = total > 0 and sys.stderr.isatty()
        with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as progress:
            yield from progress.track(steps, total=total)

    try:
        return read_batch(pictures, lang, engine, answers=answers, folder=folder, again=again, track=track)
    except KeyboardInterrupt as error:
        if folder is None:
            raise
        raise Stop(
            Text(
                "прервано; прочитанное сохранено, запустите ещё раз",
                "interrupted; what was read is kept, run it again",
            ),
            code=ExitCode.INTERRUPTED,
        ) from error
    except OSError as error:
        if folder is None:
            raise
        reason = error.strerror or str(error)
        raise Stop(Text(f"{out}: не записывается ({reason})", f"{out}: cannot be written ({reason})")) from error


# --- settle, check, conventions ---------------------------------------------------------------------------------------


@app.command(
    "settle",
    cls=Command,
    help=both(
        "Рассчитать записанную игру: каждая запись с объяснением, итоги, расчёт.",
        "Settle a recorded game: every entry with its reason, the totals, the working.",
    ),
    epilog=_example("pulka settle game.json --method circles --stake 5"),
)
def settle(
    ctx: typer.Context,
    file: RecordArgument,
    method: Annotated[
        str,
        typer.Option(
            metavar="mean|mountain|circles",
            help=both(
                "Какой расчёт показать по шагам: по средней горе, по каждой горе или «четыре кружочка».",
                "Which working to show: by the mean mountain, by every mountain, or the “four circles”.",
            ),
        ),
    ] = "mean",
    stake: Annotated[
        str | None,
        typer.Option(metavar=both("ЧИСЛО", "NUMBER"), help=both("Сколько стоит вист.", "What a whist is worth.")),
    ] = None,
    by_hand: Annotated[
        bool,
        typer.Option(
            "--by-hand",
            help=both(
                "Показать все результаты в целых вистах, какие допускает правило 4.2.12.",
                "Show every result in whole whists that rule 4.2.12 permits.",
            ),
        ),
    ] = False,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Settle a game record."""
    _speak(lang)
    if method not in METHODS:
        listed = ", ".join(METHODS)
        raise Stop(
            Text(
                f"--method {method}: нет такого расчёта; есть {listed}",
                f"--method {method}: no such working; there are {listed}",
            )
        )
    price = whole_number("--stake", stake, most=1_000_000)
    game = _record(file)
    try:
        report = settlement_report(game, ctx.obj, method, price, by_hand=by_hand)
    except RuleError as error:
        raise Stop(*(_in_file(file, v.text) for v in error.violations)) from error
    if as_json:
        _put_json(report)
    else:
        show_settlement(console(), report, game.players, ctx.obj)
    return ExitCode.DONE


@app.command(
    "check",
    cls=Command,
    help=both(
        "Проверить записи игроков: каждая ошибка один раз, там, где её сделали.",
        "Check what the players wrote: every mistake once, where it was made.",
    ),
    epilog=_example("pulka check game.json --against other.json"),
)
def check(
    ctx: typer.Context,
    file: RecordArgument,
    against: Annotated[
        str | None,
        typer.Option(
            metavar=both("ФАЙЛ", "FILE"),
            help=both(
                "Запись того же стола другим секретарём: чем они расходятся.",
                "The same table's record by another secretary: where the two differ.",
            ),
        ),
    ] = None,
    fines: Annotated[
        bool,
        typer.Option("--fines", help=both("Показать и штрафы по 4.2.7.", "Show the fines of Kodeks 4.2.7 as well.")),
    ] = False,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Check the written entries of a game record."""
    _speak(lang)
    game = _record(file)
    report = check_report(game, ctx.obj)
    if against is not None:
        differences = compare(game, _record(against))
        report["differences"] = [
            {"deal": d.deal, "field": d.field, "message": d.message.in_(ctx.obj)} for d in differences
        ]
    if as_json:
        _put_json(report)
    if report["violations"]:
        raise Stop(*(_in_file(file, Text(v["message"], v["message"])) for v in report["violations"]))
    if not as_json:
        show_check(console(), report, game.players, ctx.obj, fines=fines)
    wrong = report["result"] is not None and report["result"]["verdict"] == "wrong"
    return ExitCode.PERSON if report["mistakes"] or wrong or report.get("differences") else ExitCode.DONE


def _record(file: str) -> Game:
    try:
        if file != "-":
            if not Path(file).exists():
                raise Stop(Text(f"{file}: нет такого файла", f"{file}: no such file"))
            return read_game(Path(file))
        text = sys.stdin.buffer.read().decode("utf-8-sig")
        return game_from_json(text) if text.lstrip().startswith("{") else game_from_csv(text)
    except RecordError as error:
        raise Stop(*(_in_file(file, problem.text) for problem in error.problems)) from error
    except UnicodeDecodeError as error:
        said = Problem(Text("это не текст в UTF-8", "this is not UTF-8 text"))
        raise Stop(_in_file(file, said.text)) from error


def _in_file(file: str, text: Text) -> Text:
    return Text(f"{file}: ", f"{file}: ") + text


@app.command(
    "conventions",
    cls=Command,
    help=both(
        "Какие есть конвенции; с именем — всё, что она говорит.",
        "The conventions there are; with a name, all that one says.",
    ),
    epilog=_example("pulka conventions leningrad"),
)
def conventions(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar=both("[ИМЯ]", "[NAME]"),
            show_default=False,
            help=both("Имя конвенции или её TOML-файл.", "Its name, or a table's own TOML file."),
        ),
    ] = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> None:
    """Show the conventions, or one of them."""
    _speak(lang)
    try:
        if name and name.endswith(".toml"):
            known = [read_convention(Path(name))]
        else:
            known = [load_convention(name)] if name else [load_convention(each) for each in convention_names()]
    except ConventionError as error:
        raise Stop(error.text) from error
    if as_json:
        listed = [_convention_json(convention, ctx.obj) for convention in known]
        _put_json(listed[0] if name else listed)
    elif name:
        show_convention(console(), known[0], ctx.obj)
    else:
        show_conventions(console(), known, ctx.obj)


def _convention_json(convention: Convention, lang: Lang) -> dict[str, Any]:
    return {
        "name": convention.name,
        "title": convention.title.in_(lang),
        "source": convention.source,
        "options": {
            name: {"value": _plain(getattr(convention, name)), "text": option_text(convention, name).in_(lang)}
            for name in OPTIONS
        },
    }


def _plain(value: Any) -> Any:
    """An option's value as JSON holds it."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "__slots__") and not hasattr(value, "numerator"):
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    return str(value)


# --- demo ------------------------------------------------------------------------------------------------------------


@app.command(
    "demo",
    cls=Command,
    help=both(
        "Весь путь на одном придуманном листе: сыграть, напечатать, заполнить с двумя ошибками, снять, прочитать, "
        "рассчитать — и сверить с правдой.",
        "The whole way on one made-up sheet: play, print, fill in with two mistakes, photograph, read, settle — and "
        "compare with the truth.",
    ),
    epilog=_example("pulka demo -o pulka-demo"),
)
def demo_(
    ctx: typer.Context,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            readable=False,
            metavar=both("ПАПКА", "DIR"),
            show_default=False,
            help=both("Куда положить бланк, снимок и прочитанное (pulka-demo).", "Where the pictures go (pulka-demo)."),
        ),
    ] = Path("pulka-demo"),
    seed: Annotated[
        str | None,
        typer.Option(
            "--seed",
            metavar=both("ЧИСЛО", "N"),
            show_default=False,
            help=both("Другая игра, другие руки, другой снимок.", "Another game, other hands, another photo."),
        ),
    ] = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Go the whole way on a made-up sheet."""
    _speak(lang)
    number = whole_number("--seed", seed, least=0, most=2**31)
    try:
        shown = demo(out, SEED if number is None else number, ctx.obj)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stop(Text(f"{out}: не записывается ({reason})", f"{out}: cannot be written ({reason})")) from error
    if as_json:
        _put_json(demo_json(shown))
    else:
        show_demo(console(), shown, ctx.obj)
    if shown.verdict is None:
        return ExitCode.NO_SHEET
    return ExitCode.DONE if shown.verdict.good else ExitCode.PERSON
