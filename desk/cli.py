"""The command line: `pulka` and its commands. What each of them does is imported only where it is wanted."""

try:  # loading takes a moment, and whoever interrupts it needs no traceback
    import locale
    import os
    import sys
    from pathlib import Path
    from typing import Annotated, Any

    import typer

    from desk.edge import Command, Group, Stop, both, language, place, put_json, run, whole_number
    from scoring.text import Text, counted
except (KeyboardInterrupt, ImportError) as stopped:
    # A compiled library that is interrupted as it loads makes an ImportError of it.
    if not any(isinstance(link, KeyboardInterrupt) for link in (stopped, stopped.__cause__, stopped.__context__)):
        raise
    raise SystemExit(130) from None

app = typer.Typer(cls=Group, add_completion=True, rich_markup_mode="rich", no_args_is_help=False)


def main() -> None:
    """The program `pulka`."""
    # What outlives this program when it is killed clears up after it, and would tell the user of Python's semaphores.
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")
    arguments = sys.argv[1:]
    # Windows tells the language by no variable.
    system = locale.setlocale(locale.LC_CTYPE) if sys.platform == "win32" else ""
    sys.exit(run(app, arguments, language(arguments, os.environ, system)))


# --- what commands take -----------------------------------------------------------------------------------------------

NUMBER, FILE, FOLDER = both("ЧИСЛО", "N"), both("ФАЙЛ", "FILE"), both("ПАПКА", "DIR")


def _option(*names: str, ru: str, en: str, value: str | None = None, **more: Any) -> Any:
    """An option with its help in both languages; `value` is what its help calls the value it takes."""
    return typer.Option(*names, metavar=value, show_default=False, help=both(ru, en), **more)


def _path_option(*names: str, ru: str, en: str, value: str) -> Any:
    """An option that takes the path of a file or folder."""
    return _option(*names, ru=ru, en=en, value=value, parser=place(names[-1]))


def _argument(value: str, ru: str, en: str) -> Any:
    return typer.Argument(metavar=value, show_default=False, help=both(ru, en))


LangOption = Annotated[
    str | None,
    _option(
        "--lang",
        value="ru|en",
        ru="Язык ответов, справки и листов: ru или en; без него — язык системы.",
        en="The language of answers, help and sheets: ru or en; the system's without it.",
    ),
]
JsonOption = Annotated[bool, _option("--json", ru="Ответ в JSON.", en="Answer as JSON.")]
FormArgument = Annotated[str, _argument(both("БЛАНК", "FORM"), "Название бланка: protocol.", "The form: protocol.")]
PlayersOption = Annotated[str, _option("--players", value="3|4", ru="Сколько игроков (4).", en="How many players (4).")]
RowsOption = Annotated[
    str | None,
    _option(
        "--rows",
        value=NUMBER,
        ru="Сколько строк-сдач; сколько входит, столько и можно.",
        en="How many deals, as many as fit the page.",
    ),
]
RecordArgument = Annotated[
    str,
    _argument(
        FILE,
        "Запись игры, JSON или CSV, или лист, прочитанный «pulka read»; «-» — со стандартного ввода.",
        "A game record, JSON or CSV, or a sheet that “pulka read” has read; “-” is standard input.",
    ),
]
SheetOption = Annotated[
    str | None,
    _option(
        "--sheet",
        value=both("НОМЕР", "NUMBER"),
        ru="Какой из прочитанных листов, если их в файле несколько: короткий номер, например 7K3M-9RXA.",
        en="Which of the sheets read, where the file has several: its short number, such as 7K3M-9RXA.",
    ),
]


def _example(command: str, english: str | None = None) -> str:
    return both(f"Пример:  {command}", f"Example:  {english or command}")


def _speak(lang: str | None) -> None:
    """Refuse a language that there is not; which one is spoken was settled before the commands were made."""
    if lang not in (None, "ru", "en"):
        raise Stop(Text(f"--lang {lang}: есть ru и en", f"--lang {lang}: there are ru and en"))


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
        _path_option(
            "--out",
            "-o",
            value=both("ФАЙЛ.pdf", "FILE.pdf"),
            ru="Куда записать; прежний файл с этим именем не заменяется.",
            en="Where to; a file that is there is never replaced.",
        ),
    ],
    players: PlayersOption = "4",
    convention: Annotated[
        str,
        _option(
            "--convention",
            value=both("ИМЯ", "NAME"),
            ru="По каким правилам играют (sochi); все — «pulka conventions».",
            en="The rules played by (sochi); all of them: “pulka conventions”.",
        ),
    ] = "sochi",
    pool: Annotated[
        str | None,
        _option(
            "--pool",
            value=NUMBER,
            ru="До скольких пуля; без него место остаётся пустым.",
            en="The pool's limit; left blank without it.",
        ),
    ] = None,
    event: Annotated[
        str, _option("--event", value=both("НАЗВАНИЕ", "TITLE"), ru="Название турнира.", en="The event's title.")
    ] = "",
    round_: Annotated[str | None, _option("--round", value=NUMBER, ru="Номер тура.", en="The round.")] = None,
    tables: Annotated[
        str | None,
        _option(
            "--tables",
            value="1-12",
            ru="Номера столов: 1-12 или 1,3,5-8; в одном PDF до 2000 листов.",
            en="Table numbers: 1-12 or 1,3,5-8; one PDF holds 2000 sheets at most.",
        ),
    ] = None,
    names: Annotated[
        Path | None,
        _path_option(
            "--names",
            value=FILE,
            ru="Кто где сидит, CSV: стол;место;имя или стол;А;Б;В;Г.",
            en="Who sits where, CSV: table;seat;name or table;A;B;C;D.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        _option(
            "--option",
            value=both("ИМЯ=ЗНАЧЕНИЕ", "NAME=VALUE"),
            ru="Отличие от конвенции, например whist=gentleman; можно несколько.",
            en="A change to the convention, such as whist=gentleman; may be repeated.",
        ),
    ] = None,
    rows: RowsOption = None,
    copies: Annotated[
        str,
        _option(
            "--copies",
            value=NUMBER,
            ru="Листов на стол (1), у каждого свой код.",
            en="Sheets a table (1), each with its own code.",
        ),
    ] = "1",
    paper: Annotated[str, _option("--paper", value="a4", ru="Бумага (a4).", en="The paper (a4).")] = "a4",
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Print blank sheets."""
    _speak(lang)
    from desk.order import form_of
    from desk.printing import Order, print_order, refuse_paper

    order = Order(
        form=form_of(form, whole_number("--players", players), whole_number("--rows", rows)),
        convention=convention,
        options=option or (),
        pool=whole_number("--pool", pool),
        event=event,
        round=whole_number("--round", round_),
        tables=tables,
        names=names,
        copies=whole_number("--copies", copies) or 1,
    )
    refuse_paper(paper)
    made, code = print_order(order, out, ctx.obj)
    if as_json:
        put_json(made)
    else:
        count = len(made["sheets"])
        sheets = Text(counted(count, "лист", "листа", "листов"), f"{count} sheet{'' if count == 1 else 's'}")
        print(f"{out}: {sheets.in_(ctx.obj)}")
    return code


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
    as_json: Annotated[bool, _option("--json", ru="Ответ и так в JSON.", en="The answer is JSON in any case.")] = False,
    lang: LangOption = None,
) -> None:
    """Print the geometry of a form."""
    _speak(lang)
    from desk.order import form_of
    from templates import layout_json

    put_json(layout_json(form_of(form, whole_number("--players", players), whole_number("--rows", rows))))


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
        _argument(
            both("ПУТЬ…", "PATH…"),
            "Снимки, PDF, архивы ZIP с ними или папки; «-» — снимок со стандартного ввода.",
            "Pictures, PDFs, ZIP archives or folders of them; “-” is a picture on standard input.",
        ),
    ],
    out: Annotated[
        Path | None,
        _path_option(
            "--out",
            "-o",
            value=FOLDER,
            ru="Куда складывать прочитанное, JSON и картинку на снимок; что там есть, второй раз не читается.",
            en="Where to keep the readings, a JSON and a picture for each; what is there is not read a second time.",
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        _path_option(
            "--answers",
            value=FILE,
            ru="Ответы человека на вопросы, JSON; с -o они остаются в папке и учитываются и впредь.",
            en="A person's answers to the questions, JSON; with -o they stay in the folder and count from then on.",
        ),
    ] = None,
    again: Annotated[
        bool,
        _option("--again", ru="Прочитать заново и то, что уже прочитано.", en="Read again what is kept already."),
    ] = False,
    jobs: Annotated[
        str | None,
        _option(
            "--jobs",
            value=NUMBER,
            ru="Сколько снимков читать сразу (по числу ядер).",
            en="How many pictures at a time (one a core).",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        _option(
            "--cluster",
            value=both("АДРЕС", "ADDRESS"),
            ru="Читать на машинах кластера: адрес планировщика Dask, например 192.168.1.10:8786.",
            en="Read on the machines of a cluster: the address of Dask's scheduler, such as 192.168.1.10:8786.",
        ),
    ] = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Read sheets."""
    _speak(lang)
    at_once = whole_number("--jobs", jobs, most=256)
    from desk.reading import Wish, read_pictures

    return read_pictures(paths, Wish(out, answers, again, at_once, cluster, as_json), ctx.obj)


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
    sheet: SheetOption = None,
    method: Annotated[
        str,
        _option(
            "--method",
            value="mean|mountain|circles",
            ru="Какой расчёт показать по шагам: по средней горе (mean), по каждой горе или «четыре кружочка».",
            en="Which working to show: by the mean mountain (mean), by every mountain, or the “four circles”.",
        ),
    ] = "mean",
    stake: Annotated[
        str | None, _option("--stake", value=NUMBER, ru="Сколько стоит вист.", en="What a whist is worth.")
    ] = None,
    by_hand: Annotated[
        bool,
        _option(
            "--by-hand",
            ru="Показать все результаты в целых вистах, какие допускает правило 4.2.12.",
            en="Show every result in whole whists that rule 4.2.12 permits.",
        ),
    ] = False,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Settle a game record."""
    _speak(lang)
    price = whole_number("--stake", stake, most=1_000_000)
    from desk.records import settle_record

    return settle_record(file, sheet, ctx.obj, method, price, by_hand=by_hand, as_json=as_json)


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
    sheet: SheetOption = None,
    against: Annotated[
        str | None,
        _option(
            "--against",
            value=FILE,
            ru="Запись того же стола другим секретарём или лист с ней, прочитанный «pulka read»: чем они расходятся.",
            en="The same table's record by another secretary, or the sheet as read: where the two differ.",
        ),
    ] = None,
    fines: Annotated[
        bool, _option("--fines", ru="Показать и штрафы по 4.2.7.", en="Show the fines of Kodeks 4.2.7 as well.")
    ] = False,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Check the written entries of a game record."""
    _speak(lang)
    from desk.records import check_record

    return check_record(file, sheet, against, ctx.obj, fines=fines, as_json=as_json)


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
        _argument(both("[ИМЯ]", "[NAME]"), "Имя конвенции или её TOML-файл.", "Its name, or a table's own TOML file."),
    ] = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> None:
    """Show the conventions, or one of them."""
    _speak(lang)
    from desk.records import tell_conventions

    tell_conventions(name, ctx.obj, as_json=as_json)


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
        _path_option(
            "--out",
            "-o",
            value=FOLDER,
            ru="Куда положить бланк, снимок и прочитанное (pulka-demo).",
            en="Where the pictures go (pulka-demo).",
        ),
    ] = Path("pulka-demo"),
    seed: Annotated[
        str | None,
        _option(
            "--seed",
            value=NUMBER,
            ru="Другая игра, другие руки, другой снимок.",
            en="Another game, other hands, another photo.",
        ),
    ] = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> int:
    """Go the whole way on a made-up sheet."""
    _speak(lang)
    number = whole_number("--seed", seed, least=0, most=2**31)
    from desk.demo import run_demo

    return run_demo(out, number, ctx.obj, as_json=as_json)
