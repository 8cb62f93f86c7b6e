import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from desk.cli import app
from desk.edge import Group, Stop, complain, language, run
from scoring.text import Text

COMMANDS = ("print", "layout", "read", "settle", "check", "conventions", "demo")
EXAMPLES = Path(__file__).parent.parent / "examples"
CYRILLIC = re.compile("[а-яё]", re.I)


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        (["read", "--lang", "en"], {"LANG": "ru_RU.UTF-8"}, "en"),
        (["--lang=ru", "read"], {"LANG": "en_US.UTF-8"}, "ru"),
        (["--lang", "ru", "read", "--lang", "en"], {}, "en"),
        ([], {"LANG": "en_GB.UTF-8"}, "en"),
        ([], {"LC_ALL": "ru_RU.UTF-8", "LANG": "en_GB.UTF-8"}, "ru"),
        ([], {"LANG": "C.UTF-8"}, "ru"),
        ([], {"LC_ALL": "", "LANG": "en"}, "en"),
        ([], {}, "ru"),
    ],
)
def test_the_language_is_the_one_asked_for_else_the_locales_else_russian(arguments, environment, expected):
    assert language(arguments, environment) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ru_RU.UTF-8", "ru"),
        ("en_US.UTF-8", "en"),
        ("de_DE.UTF-8", "en"),
        ("C", "ru"),
        ("C.UTF-8", "ru"),
        ("POSIX", "ru"),
        ("Russian_Russia.1251", "ru"),
        ("German_Germany.1252", "en"),
        ("", "ru"),
    ],
)
def test_any_locale_but_a_russian_one_means_english(name, expected):
    assert language([], {}, name) == language([], {"LANG": name}) == expected
    # What the environment says goes before what the system says.
    assert (language([], {"LANG": "ru_RU.UTF-8"}, name), language([], {"LC_ALL": "fr_FR"}, name)) == ("ru", "en")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("lang", ["ru", "en"])
def test_every_command_has_help_with_an_example_in_either_language(pulka, command, lang):
    ran = pulka(command, "--help", "--lang", lang) if lang == "en" else pulka(command, "--help")
    assert ran.code == 0
    assert re.search({"ru": r"Пример:\s+pulka ", "en": r"Example:\s+pulka "}[lang] + command, ran.out)
    assert "--lang" in ran.out
    assert "\x1f" not in ran.out
    assert not re.search(r"<\w", ran.out)


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_is_wholly_in_one_language(pulka, command):
    russian, english = pulka(*command, "--help").out, pulka("--lang", "en", *command, "--help").out
    assert not CYRILLIC.search(english.replace("стол;место", ""))
    for line in russian.splitlines():
        # Every line of a panel that explains an option or command explains it in Russian.
        words = re.findall(r"[A-Za-z]{4,}", re.sub(r"--[\w-]+|[\w-]+\.(pdf|json|csv)", "", line))
        if line.startswith("│ --") or line.startswith("│    --"):
            assert CYRILLIC.search(line), line
        assert len(words) < 5, line


def test_without_a_command_there_is_help(pulka):
    ran = pulka()
    assert ran.code == 0
    for name in COMMANDS:
        assert name in ran.out


@pytest.mark.parametrize(
    ("arguments", "ru", "en"),
    [
        (["print"], "не указано: БЛАНК", "FORM is not given"),
        (["print", "protocol"], "не указано: --out/-o", "--out/-o is not given"),
        (["layout", "protocol", "--playrs", "3"], "нет параметра --playrs; похожие: --players", "there is no option"),
        (["layout", "protocol", "--players"], "после --players нужно значение", "--players needs a value"),
        (["layout", "protocol", "--json=1"], "у --json не бывает значения", "--json takes no value"),
        (["layout", "protocol", "else"], "лишнее: else", "unexpected: else"),
        (["layout", "protocol", "--players", "four"], "--players four: нужно целое число", "expected a whole number"),
        (["layout", "protocol", "--players", "9"], "нет бланка «protocol» на 9", "there is no form 'protocol' for 9"),
        (["layout", "pulka"], "нет бланка «pulka» на 4", "there is no form 'pulka' for 4"),
        (["layout", "protocol", "--rows", "99"], "не входит строк: 99", "99 rows do not fit"),
        (["settl", "x"], "нет команды «settl»; есть: print", "there is no command 'settl'"),
        (["conventions", "sotchi"], "нет конвенции «sotchi»", "no convention 'sotchi'"),
        (["settle", "no-such.json"], "no-such.json: нет такого файла", "no-such.json: no such file"),
        (["read", "no-such-folder"], "no-such-folder: нет такого файла", "no-such-folder: no such file"),
    ],
)
def test_wrong_usage_is_one_line_in_the_users_language(pulka, arguments, ru, en):
    for lang, expected in (("ru", ru), ("en", en)):
        ran = pulka("--lang", lang, *arguments)
        assert ran.code == 2
        (line,) = ran.complaints
        assert line.startswith("pulka: ")
        assert expected in line
        assert ran.out == ""
        if lang == "en":
            assert not CYRILLIC.search(line)


def test_a_language_there_is_not_is_refused(pulka):
    for arguments in (("--lang", "fr"), ("conventions", "--lang", "fr")):
        ran = pulka(*arguments)
        assert ran.code == 2
        assert ran.complaints == ["pulka: --lang fr: есть ru и en"]


@pytest.fixture
def failing():
    """A program whose commands fail in ways that nobody foresaw."""
    failing = typer.Typer(cls=Group)

    @failing.command()
    def crash() -> None:
        raise RuntimeError("two\nlines")

    @failing.command()
    def refuse() -> None:
        raise Stop(*(Text(f"ошибка {n}", f"problem {n}") for n in range(1, 12)))

    @failing.command()
    def interrupt() -> None:
        raise KeyboardInterrupt

    return failing


def test_a_failure_of_the_program_is_one_line_and_its_own_code(failing, capsys, monkeypatch):
    assert run(failing, ["crash"], "en") == 4
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "pulka: the program itself failed: RuntimeError: two lines (for details run again with PULKA_DEBUG=1)"
    ]
    monkeypatch.setenv("PULKA_DEBUG", "1")
    with pytest.raises(RuntimeError):
        run(failing, ["crash"], "en")


def test_an_interrupt_ends_with_130(failing, capsys):
    assert run(failing, ["interrupt"], "ru") == 130
    assert capsys.readouterr().err.strip() == "pulka: прервано"


def test_of_many_problems_the_first_are_told(failing, capsys):
    assert run(failing, ["refuse"], "ru") == 2
    said = capsys.readouterr().err.splitlines()
    assert said == [*(f"pulka: ошибка {n}" for n in range(1, 9)), "pulka: … и ещё 3"]


def test_a_terminal_is_sent_no_control_characters(capsys):
    complain("a\x1b[2J\x07.jpg: no such file")
    assert capsys.readouterr().err == "pulka: a[2J.jpg: no such file\n"


@pytest.mark.parametrize("encoding", ["ascii", "koi8-r"])
def test_an_output_that_lacks_letters_is_written_all_the_same(encoding):
    program = [sys.executable, "-c", "from desk.cli import main; main()", "conventions", "sochi", "--lang", "ru"]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    ran = subprocess.run(program, env=environment, capture_output=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ("висты" in ran.stdout.decode(encoding).lower()) is (encoding == "koi8-r")
    ran = subprocess.run([*program, "--json"], env=environment, capture_output=True, timeout=60)
    assert ran.returncode == 0
    assert "очинка" in json.loads(ran.stdout.decode(encoding))["title"]


@pytest.mark.parametrize("command", [("layout", "protocol"), ("conventions",)])
def test_a_closed_pipe_is_quiet(command):
    program = [sys.executable, "-c", "from desk.cli import main; main()", *command]
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    assert ran.stderr == b""
    assert ran.returncode == 141


READERS = ("numpy", "cv2", "PIL", "reportlab", "recognize")


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        (["--help"], READERS),
        (["read", "--help"], READERS),
        (["layout", "protocol"], (*READERS, "rich.markdown")),
        (["conventions", "sochi"], (*READERS, "rich.markdown")),
        (["settle", EXAMPLES / "honest.json"], (*READERS, "rich.markdown")),
        (["check", EXAMPLES / "honest.json"], (*READERS, "rich.markdown")),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_loads_nothing_that_it_does_not_need(arguments, without):
    said = "import sys\nfrom desk.cli import main\ntry: main()\nexcept SystemExit as end: assert not end.code\n"
    said += f"print(*(name for name in {without} if name in sys.modules))"
    words = [sys.executable, "-c", said, *map(str, arguments)]
    ran = subprocess.run(words, capture_output=True, timeout=60, text=True)
    assert ran.stdout.splitlines()[-1] == ""
    assert len(ran.stdout.splitlines()) > 5, ran.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["read", "a.jpg", "-o", ""], "-o"),
        (["read", "a.jpg", "--answers", ""], "--answers"),
        (["print", "protocol", "-o", ""], "-o"),
        (["print", "protocol", "-o", "a.pdf", "--names="], "--names"),
        (["demo", "--out", ""], "-o"),
    ],
)
def test_an_empty_path_is_not_the_current_folder(pulka, tmp_path, monkeypatch, arguments, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jpg").write_bytes(b"")
    ran = pulka(*arguments, "--lang", "en")
    assert (ran.code, ran.complaints) == (2, [f"pulka: {option}: empty path"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.jpg"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["read"],
        ["read", "--answers"],
        ["settle"],
        ["check"],
        ["check", "game.json", "--against"],
        ["print", "protocol", "-o", "a.pdf", "--names"],
    ],
)
def test_a_stream_that_may_never_end_is_not_read_by_its_name(pulka, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    example = Path(__file__).parent.parent / "examples" / "two-mistakes.json"
    (tmp_path / "game.json").write_text(example.read_text("utf-8"), "utf-8")
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero"):
        first = [*arguments[:1], "game.json", *arguments[1:]] if arguments == ["read", "--answers"] else arguments
        ran = pulka(*first, name, "--lang", "en")
        assert ran.code == 2
        (line,) = ran.complaints
        assert line.startswith(f"pulka: {name}: this is no regular file")


def test_the_program_is_installed_under_its_name():
    command = typer.main.get_command(app)
    assert tuple(command.commands) == COMMANDS
