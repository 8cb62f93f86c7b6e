"""A sheet before it is ink: a form, what its code says, and the words of the event."""

import random
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from templates import Form, Identity


class SheetError(ValueError):
    """A sheet cannot be printed as asked; `ru` and `en` name what is too long or does not agree."""

    def __init__(self, ru: str, en: str) -> None:
        """Keep the sentence in both languages."""
        super().__init__(en)
        self.ru, self.en = ru, en


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet of paper to be printed.

    `names` are the players' by seat, empty or absent where not known; `options_in_words` says every option that
    differs from the convention's preset, a phrase each, and `convention_title` names the convention for people (by
    default as the code does), both in the language the sheet is printed in.
    """

    form: Form
    identity: Identity
    event: str = ""
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    options_in_words: tuple[str, ...] = ()
    convention_title: str = ""

    def __post_init__(self) -> None:
        """Refuse a sheet whose code would say something else than its print."""
        i = self.identity
        said = (i.form, i.version, i.players, i.rows)
        form = (self.form.name, self.form.version, self.form.players, self.form.rows)
        if said != form:
            raise SheetError(
                f"код говорил бы о бланке {said}, а бланк — {form}",
                f"the code would speak of form {said}, but the sheet is form {form}",
            )
        if strangers := sorted(set(self.names) - set(self.form.seats)):
            there, here = ", ".join(strangers), ", ".join(self.form.seats)
            raise SheetError(f"нет места {there} среди {here}", f"there is no seat {there} among {here}")
        if i.options and not self.options_in_words:
            listed = ", ".join(i.options)
            raise SheetError(
                f"отличия от конвенции должны стоять на листе словами: {listed}",
                f"the sheet must say its options in words: {listed}",
            )


def make_sheets(
    form: Form,
    *,
    convention: str,
    convention_title: str = "",
    pool: int | None = None,
    event: str = "",
    round: int | None = None,
    tables: Iterable[int | None] = (None,),
    names: Mapping[int, Mapping[str, str]] | None = None,
    options: Mapping[str, str] | None = None,
    options_in_words: Iterable[str] = (),
    copies: int = 1,
    seed: int | None = None,
) -> tuple[Sheet, ...]:
    """The sheets of a round: `copies` for every table, each with an identity of its own.

    `names` maps a table to its players by seat. The serial numbers come from the system's randomness, or from `seed`
    where the same sheets are wanted again. Raises SheetError where names are given for a table that is not printed.
    """
    tables, names, in_words = tuple(tables), names or {}, tuple(options_in_words)
    if strangers := sorted(set(names) - set(tables)):
        listed = ", ".join(map(str, strangers))
        raise SheetError(
            f"есть имена для столов, которых не печатают: {listed}",
            f"names are given for tables that are not printed: {listed}",
        )
    dice = secrets.SystemRandom() if seed is None else random.Random(seed)
    return tuple(
        Sheet(
            form,
            Identity(
                form=form.name,
                version=form.version,
                players=form.players,
                rows=form.rows,
                convention=convention,
                pool=pool,
                round=round,
                table=table,
                serial=dice.getrandbits(32),
                options=options or {},
            ),
            event,
            dict(names.get(table, {})) if table is not None else {},
            in_words,
            convention_title,
        )
        for table in tables
        for _ in range(copies)
    )
