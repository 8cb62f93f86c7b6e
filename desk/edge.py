"""The edge of the program: in which language it speaks, how it ends, and how an error becomes one line."""

import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal, cast

import typer
from typer.core import TyperCommand, TyperGroup

from scoring.text import Text, plain_name, system_text

Lang = Literal["ru", "en"]


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    PERSON = 1
    """Done, and something needs a person."""
    USAGE = 2
    """Wrong usage, or an input file that is not what it should be."""
    NO_SHEET = 3
    """Some inputs could not be read as sheets at all; the rest are done."""
    OURS = 4
    """The program's own failure."""
    INTERRUPTED = 130
    CLOSED_PIPE = 141


class Stop(Exception):
    """This run cannot go on; each of `texts` is a line that says what, where, and what to do."""

    def __init__(self, *texts: Text, code: ExitCode = ExitCode.USAGE) -> None:
        """Keep the lines and the exit code."""
        super().__init__("; ".join(text.en for text in texts))
        self.texts, self.code = texts, code


def language(arguments: Sequence[str], environment: Mapping[str, str], system: str = "") -> Lang:
    """The language asked for: the last `--lang`, else Russian where the locale is Russian or names no language.

    Any other locale means English. `system` names it, as setlocale does, where no variable of the environment has it.

    >>> language(["read", "--lang", "en"], {}), language([], {"LANG": "de_DE.UTF-8"}), language([], {"LANG": "C.UTF-8"})
    ('en', 'en', 'ru')
    """
    asked = [later for word, later in zip(arguments, arguments[1:], strict=False) if word == "--lang"]
    asked += [word.removeprefix("--lang=") for word in arguments if word.startswith("--lang=")]
    if asked and asked[-1] in ("ru", "en"):
        return cast(Lang, asked[-1])
    set_ = (environment.get(name) for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
    name = next((value for value in set_ if value), system).lower().partition(".")[0]
    return "ru" if name.startswith("ru") or name in ("", "c", "posix") else "en"


MOST_LINES = 8
"""Of more problems than these only the first are told, and how many follow."""

_INTERRUPTED = Text("прервано", "interrupted")
_BETWEEN = "\x1f"


def both(ru: str, en: str) -> str:
    """A help text in both languages, for `spoken` to choose from."""
    return ru + _BETWEEN + en


def spoken(text: str, lang: Lang) -> str:
    """The help text in one language; a text that has only one stays."""
    ru, between, en = text.partition(_BETWEEN)
    return en if between and lang == "en" else ru


class Command(TyperCommand):
    """A command that speaks the language of the run."""

    def get_usage(self, ctx: Any) -> str:
        """The line of usage."""
        return _usage(super().get_usage(ctx), ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help."""
        return _help_option(super().get_help_option(ctx), ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The whole help."""
        _speak_headings(ctx)
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    """All the commands; speaks the language of the run, and keeps quiet when nobody listens any more."""

    def get_usage(self, ctx: Any) -> str:
        """The line of usage."""
        return _usage(super().get_usage(ctx), ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help."""
        return _help_option(super().get_help_option(ctx), ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The whole help."""
        _speak_headings(ctx)
        super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Which command is meant; a Stop that names those there are where it is none of them."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = ", ".join(self.list_commands(ctx))
            raise Stop(
                Text(
                    f"нет команды «{args[0]}»; есть: {known} (справка: pulka --help)",
                    f"there is no command {args[0]!r}; there are {known} (help: pulka --help)",
                )
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command named. A closed pipe is an end, not an error."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            # What is still buffered must not be tried again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(ExitCode.CLOSED_PIPE) from None
        except KeyboardInterrupt as error:
            # Before the command-line library ends the run in its own way, with an empty line.
            raise Stop(_INTERRUPTED, code=ExitCode.INTERRUPTED) from error


def run(app: typer.Typer, arguments: Sequence[str], lang: Lang) -> int:
    """Run the command line and turn whatever happens into an exit code, and every error into one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        command = typer.main.get_command(app)
        _speak(command, lang)
        result = command.main(list(arguments), prog_name="pulka", standalone_mode=False, obj=lang)
        return int(result or 0)
    except Stop as stop:
        for text in stop.texts[:MOST_LINES]:
            complain(text.in_(lang))
        if (more := len(stop.texts) - MOST_LINES) > 0:
            complain(Text(f"… и ещё {more}", f"… and {more} more").in_(lang))
        return stop.code
    except (KeyboardInterrupt, typer.Abort):
        complain(_INTERRUPTED.in_(lang))
        return ExitCode.INTERRUPTED
    except Exception as error:
        if interrupted(error):
            complain(_INTERRUPTED.in_(lang))
            return ExitCode.INTERRUPTED
        if hasattr(error, "format_message"):  # what the command-line library has to say about the usage
            complain(_wrong_usage(error, lang))
            return ExitCode.USAGE
        if os.environ.get("PULKA_DEBUG"):
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        said = Text(
            f"сбой самой программы: {what} (подробности: повторите с PULKA_DEBUG=1)",
            f"the program itself failed: {what} (for details run again with PULKA_DEBUG=1)",
        )
        complain(said.in_(lang))
        return ExitCode.OURS


def interrupted(error: BaseException) -> bool:
    """Whether it comes of an interrupt; of one, a compiled library makes an ImportError as it loads."""
    return any(isinstance(link, KeyboardInterrupt) for link in (error, error.__cause__, error.__context__))


def complain(line: str) -> None:
    """One line on stderr."""
    print("pulka: " + plain_name(" ".join(line.split())), file=sys.stderr)


def _speak(command: Any, lang: Lang) -> None:
    """Leave of every help text the chosen language."""
    for one in [command, *getattr(command, "commands", {}).values()]:
        for name in ("help", "short_help", "epilog"):
            if text := getattr(one, name):
                setattr(one, name, spoken(text, lang))
        for param in one.params:
            if getattr(param, "help", None):
                param.help = spoken(_COMPLETION.get(param.name, param.help), lang)
            if param.metavar:
                param.metavar = spoken(param.metavar, lang)
            elif getattr(param, "is_flag", False):
                param.metavar = " "  # a flag takes no value, and must not look as if it did
            if param.param_type_name == "argument":
                param.display_type_rich = _no_type


def _no_type(ctx: Any) -> None:
    """An argument says what it is by its name; <str> is nothing to people."""


_COMPLETION = {
    "install_completion": both(
        "Дополнять команды по Tab в этой оболочке.", "Complete commands with Tab in this shell."
    ),
    "show_completion": both("Показать настройку дополнения по Tab.", "Show the set-up of completion with Tab."),
}

_HEADINGS = {
    "ARGUMENTS_PANEL_TITLE": Text("Что указать", "Arguments"),
    "OPTIONS_PANEL_TITLE": Text("Параметры", "Options"),
    "COMMANDS_PANEL_TITLE": Text("Команды", "Commands"),
    "REQUIRED_LONG_STRING": Text("[обязательно]", "[required]"),
}


def _speak_headings(ctx: Any) -> None:
    """Put the headings of the help into the language of the run; what draws the help takes longest to load."""
    from typer import rich_utils

    for name, words in _HEADINGS.items():
        setattr(rich_utils, name, words.in_(ctx.find_root().obj))


def _usage(line: str, ctx: Any) -> str:
    if ctx.find_root().obj != "ru":
        return line
    for english, russian in (
        ("Usage:", "Вызов:"),
        ("[OPTIONS]", "[ПАРАМЕТРЫ]"),
        ("COMMAND [ARGS]...", "КОМАНДА …"),
    ):
        line = line.replace(english, russian)
    return line


def _help_option(option: Any, ctx: Any) -> Any:
    if option is not None:
        option.help = Text("Показать эту справку.", "Show this help.").in_(ctx.find_root().obj)
        option.metavar = " "
    return option


def _wrong_usage(error: Any, lang: Lang) -> str:
    """What is wrong with the command line, in one line."""
    context = getattr(error, "ctx", None)
    said: Callable[[Any], Text] = _USAGE.get(type(error).__name__, _other_usage)
    path = context.command_path if context is not None else "pulka"
    return said(error).in_(lang) + f" ({Text('справка', 'help').in_(lang)}: {path} --help)"


def _no_such_option(error: Any) -> Text:
    name, close = error.option_name, ", ".join(sorted(error.possibilities or ()))
    return Text(
        f"нет параметра {name}" + (f"; похожие: {close}" if close else ""),
        f"there is no option {name}" + (f"; close to it: {close}" if close else ""),
    )


def _missing(error: Any) -> Text:
    param = error.param
    name = "/".join(param.opts) if param.param_type_name == "option" else param.metavar or param.name.upper()
    return Text(f"не указано: {name}", f"{name} is not given")


def _bad_option_use(error: Any) -> Text:
    name = error.option_name
    if "requires" in error.message:
        return Text(f"после {name} нужно значение", f"{name} needs a value after it")
    return Text(f"у {name} не бывает значения", f"{name} takes no value")


def _other_usage(error: Any) -> Text:
    said = error.format_message()
    if "unexpected extra argument" in said:
        extra = said[said.rfind("(") + 1 : said.rfind(")")]
        return Text(f"лишнее: {extra}", f"unexpected: {extra}")
    return Text(f"так эту команду не вызывают: {said}", said)


_USAGE: Mapping[str, Callable[[Any], Text]] = {
    "NoSuchOption": _no_such_option,
    "MissingParameter": _missing,
    "BadOptionUsage": _bad_option_use,
}


def whole_number(name: str, value: str | None, least: int = 1, most: int = 9999) -> int | None:
    """The whole number given for an option, None where it is not; Stop where it is something else."""
    if value is None:
        return None
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise Stop(
            Text(
                f"{name} {value}: нужно целое число от {least} до {most}",
                f"{name} {value}: expected a whole number from {least} to {most}",
            )
        )
    return number


def place(option: str) -> Callable[[str], Path]:
    """What turns an option's value into the path of a file or folder; Stop where it is empty."""

    def path(value: str) -> Path:
        if not value:
            raise Stop(Text(f"{option}: пустой путь", f"{option}: empty path"))
        return Path(value)

    return path


NOT_REGULAR = Text(
    "это не обычный файл (устройство, канал или сокет); со стандартного ввода читает «-»",
    "this is no regular file (a device, a pipe or a socket); “-” reads standard input",
)


def input_file(name: str) -> Path:
    """The file of this name, to be read; Stop where there is none, or where it might never end."""
    path = Path(name)
    try:
        there, regular = bool(name) and path.exists(), path.is_file() or path.is_dir()
    except OSError:
        return path  # opening it will say why
    if not there:
        raise Stop(in_file(name, Text("нет такого файла", "no such file")))
    if not regular:
        raise Stop(in_file(name, NOT_REGULAR))
    return path


def input_data(name: str) -> bytes:
    """What the file of this name holds; Stop where it cannot be read."""
    try:
        return input_file(name).read_bytes()
    except OSError as error:
        raise Stop(in_file(name, Text("не открывается: ", "cannot be opened: ") + system_text(error))) from error


def in_file(name: str, said: Text) -> Text:
    """What there is to say of a file, with its name before it."""
    return Text(f"{name}: ", f"{name}: ") + said


def put_json(data: Any) -> None:
    """Print plain data as JSON."""
    # Where the output cannot hold every letter, JSON has a spelling for them that loses nothing.
    ascii_only = not (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print(json.dumps(data, ensure_ascii=ascii_only, indent=1))
