"""What holds for every game: settlements, cutting a game in two, files, and mistakes put into an honest sheet."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from scoring import Deal, Game, Totals, Written, check, convention_names, ledger, load_convention, settle, violations
from scoring.files import game_from_csv, game_from_json, game_to_csv, game_to_json
from scoring.game import SEATS, Cell, cells_of, defenders
from scoring.ledger import is_over, lasting, opening, post, start_of
from scoring.settlement import METHODS, money, permitted, rounded, working

BOX = tuple[int, Cell]
Paper = dict[BOX, int]
RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@st.composite
def deals(draw: st.DrawFn, number: int, players: int, convention: str) -> Deal:
    """A legal deal: raspasy, a misère, a contract not whisted, whisted by one or both, half-whisted or conceded."""
    seats = SEATS[:players]
    dealer = seats[(number - 2) % players]
    out = dealer if players == 4 else None
    playing = [seat for seat in seats if seat != out]
    kind = draw(st.sampled_from(["game"] * 6 + ["misere", "raspasy", "conceded", "half"]))
    if kind == "raspasy" and players > 2:
        first = draw(st.integers(0, 10))
        second = draw(st.integers(0, 10 - first))
        tricks = dict(zip(playing, (first, second, 10 - first - second), strict=True))
        if out is not None and draw(st.booleans()):
            most = max(playing, key=lambda seat: tricks[seat])
            talon = draw(st.integers(0, 2))
            tricks[most] -= talon
            tricks[out] = talon
        return Deal(number, "raspasy", dealer=dealer, tricks=tricks)
    declarer = draw(st.sampled_from(playing))
    if kind == "misere":
        return Deal(number, "misere", dealer=dealer, declarer=declarer, tricks={declarer: draw(st.integers(0, 4))})
    contract = draw(st.sampled_from(["6", "6", "6", "7", "7", "8", "9", "10"]))
    against = defenders(declarer, out, seats)
    if kind == "conceded" and load_convention(convention).concede:
        return Deal(number, contract, dealer=dealer, declarer=declarer, conceded=3)
    if kind == "half" and len(against) == 2 and contract in "67":
        return Deal(
            number,
            contract,
            dealer=dealer,
            declarer=declarer,
            defence=dict(zip(against, ("pass", "half"), strict=True)),
        )
    said = dict(zip(against, (draw(st.sampled_from(["whist", "pass"])) for _ in against), strict=True))
    whisters = [seat for seat in against if said[seat] == "whist"]
    if not whisters:
        return Deal(number, contract, dealer=dealer, declarer=declarer, defence=said)
    own = draw(st.integers(max(0, int(contract) - 3), 10))
    tricks = {declarer: own, whisters[0]: 10 - own}
    if len(whisters) == 2:
        tricks[whisters[0]] = draw(st.integers(0, 10 - own))
        tricks[whisters[1]] = 10 - own - tricks[whisters[0]]
    return Deal(number, contract, dealer=dealer, declarer=declarer, defence=said, tricks=tricks)


CONVENTIONS = (
    "sochi",
    "leningrad",
    "piter",
    "hard-piter",
    "fspr",
    "rostov",
    "rostov-premiums",
    "classic",
    "kazakhstan",
    "races",
)


@st.composite
def games(draw: st.DrawFn, conventions: tuple[str, ...] = CONVENTIONS, most: int = 14) -> Game:
    """A legal game up to its end, of two to four players, with or without a pool limit."""
    convention = draw(st.sampled_from(conventions))
    players = draw(st.sampled_from([4, 3, 2]))
    limit = draw(st.sampled_from([None, 10, 20]))
    rules, state, played = load_convention(convention), opening(players, limit), []
    for number in range(1, draw(st.integers(1, most)) + 1):
        deal = draw(deals(number, players, convention))
        state, _ = post(rules, state, deal)
        played.append(deal)
        if is_over(rules, state):
            break
    return Game(convention, {seat: f"player {seat}" for seat in SEATS[:players]}, tuple(played), limit or "mean")


@st.composite
def all_totals(draw: st.DrawFn, players: int | None = None) -> Totals:
    """Any totals at all."""
    seats = SEATS[: players or draw(st.integers(2, 4))]
    points = st.integers(-40, 200)
    return Totals(
        {s: draw(st.integers(0, 60)) for s in seats},
        {s: draw(points) for s in seats},
        {s: {o: draw(st.integers(0, 300)) for o in seats if o != s} for s in seats},
    )


# --- settlement ------------------------------------------------------------------------------------------------------


@given(all_totals(), st.sampled_from(convention_names()))
@RELAXED
def test_settlement_sums_to_zero_and_every_method_agrees(totals: Totals, name: str) -> None:
    convention = load_convention(name)
    assume(convention.divisible_mountain or len(totals.seats) == 2)
    exact = settle(totals, convention)
    assert sum(exact.values()) == 0
    for method in METHODS:
        for limit in (None, 20):
            assert working(totals, convention, method, limit)[-1].figures == exact


@given(all_totals(), st.integers(-50, 50), st.integers(0, 50))
@RELAXED
def test_a_constant_on_every_mountain_or_pool_changes_nothing(totals: Totals, mountain: int, pool: int) -> None:
    convention = load_convention("leningrad")
    moved = totals.changed(
        {Cell("mountain", s): mountain for s in totals.seats} | {Cell("pool", s): pool for s in totals.seats}
    )
    assert settle(moved, convention) == settle(totals, convention)


@given(all_totals(), st.sampled_from(["sochi", "leningrad"]))
@RELAXED
def test_whole_whists(totals: Totals, name: str) -> None:
    convention = load_convention(name)
    exact = settle(totals, convention)
    whole = rounded(exact)
    assert sum(whole.values()) == 0
    assert all(abs(whole[s] - exact[s]) < 1 for s in exact)
    for table in permitted(totals, convention):
        assert sum(table.values()) == 0
        # At most one correction an opponent and one's own: never further than that from exact.
        assert all(abs(table[s] - exact[s]) <= Fraction(3) for s in exact)
    if all(value.denominator == 1 for value in exact.values()):
        assert whole == exact


@given(all_totals(), st.fractions(0, 20), st.sampled_from([1, 5, Fraction(1, 100)]))
@RELAXED
def test_money_sums_to_zero(totals: Totals, stake: Fraction, smallest: Fraction) -> None:
    exact = settle(totals, load_convention("sochi"))
    paid = money(exact, stake, smallest)
    assert sum(paid.values()) == 0
    assert all(abs(paid[s] - exact[s] * stake) < smallest and (paid[s] / smallest).denominator == 1 for s in exact)


@given(st.integers(3, 4).flatmap(lambda n: deals(1, n, "sochi").map(lambda deal: (n, deal))))
@RELAXED
def test_sochi_doubled_is_leningrad(case: tuple[int, Deal]) -> None:
    """The same deal costs twice as much in leningrad, where whisters answer in full and nobody shares whists."""
    players, deal = case
    assume(deal.contract != "raspasy")
    options = {"whist": "greedy", "defender_multiplier": 2}
    sochi, leningrad = load_convention("sochi"), load_convention("leningrad", options)
    one = settle(post(sochi, opening(players), deal)[0].totals(), sochi)
    two = settle(post(leningrad, opening(players), deal)[0].totals(), leningrad)
    assert two == {seat: 2 * value for seat, value in one.items()}


@given(games(("sochi", "rostov", "leningrad")))
@RELAXED
def test_the_price_of_a_game_does_not_depend_on_the_pool_limit(game: Game) -> None:
    """Help and the remainder keep every deal's worth (Kodeks 4.1.1), whatever a pool point weighs."""
    assume(game.pool is not None)
    game = replace(game, options={"help": True})
    free = replace(game, pool=None)
    assert settle(ledger(game).end.totals(), game.rules) == settle(ledger(free).end.totals(), free.rules)


# --- the ledger ------------------------------------------------------------------------------------------------------


@given(games())
@RELAXED
def test_what_deals_add_depends_on_the_lasting_state_alone(game: Game) -> None:
    state = start_of(game)
    bare = lasting(game.rules, state)
    for deal in game.deals:
        state, entries = post(game.rules, state, deal)
        after, same = post(game.rules, bare, deal)
        assert [entry[:4] for entry in same] == [entry[:4] for entry in entries]
        bare = lasting(game.rules, after)
        assert bare == lasting(game.rules, state)


@given(games())
@RELAXED
def test_running_totals_are_the_sums_of_what_was_added(game: Game) -> None:
    book = ledger(game)
    sums: dict[Cell, Fraction] = {}
    for posted in book.deals:
        for entry in posted.entries:
            sums[entry.cell] = sums.get(entry.cell, Fraction(0)) + entry.add
            assert entry.add != 0
            assert sums[entry.cell] == entry.total == posted.state.total(entry.cell)
            assert entry.why.ru and entry.why.en
    assert {cell: sums.get(cell, 0) for cell in cells_of(game.seats)} == {
        c: book.end.totals()[c] for c in cells_of(game.seats)
    }


@given(games(), st.data())
@RELAXED
def test_a_game_cut_in_two_settles_the_same(game: Game, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(game.deals)))
    first = replace(game, deals=game.deals[:cut])
    middle = ledger(first).end
    second = replace(game, deals=game.deals[cut:], start=middle.totals(), raspasy_run=middle.run)
    assert ledger(second).end.totals() == ledger(game).end.totals()


@given(games(), st.permutations(["whist", "consolation", "raspasy_prices", "help"]))
@RELAXED
def test_the_order_of_options_does_not_matter(game: Game, order: list[str]) -> None:
    values = {"whist": "gentleman", "consolation": "none", "raspasy_prices": [1, 2], "help": False}
    one = replace(game, options=values)
    two = replace(game, options={name: values[name] for name in order})
    assert one.rules == two.rules
    assert ledger(one) == ledger(two)


# --- files -----------------------------------------------------------------------------------------------------------


OPTIONS = (
    {},
    {"whist": "gentleman", "values": (2, 4, 6, 8, 10, 12)},
    {"premiums": {"misere": 25}, "defender_multiplier": "1/2", "dealer_consolation": False},
)


@given(games(), st.data())
@RELAXED
def test_files_keep_everything(game: Game, data: st.DataObject) -> None:
    paper = honest(game)
    assume(paper is not None)
    options = data.draw(st.sampled_from(OPTIONS))
    names = {seat: data.draw(st.text(alphabet='аяAZ "«»;,\n=', max_size=8)).strip() for seat in game.seats}
    full = replace(
        on_paper(game, paper or {}), options=options, players=names, start=ledger(game).end.totals(), raspasy_run=2
    )
    assert game_from_json(game_to_json(full)) == full
    assert game_from_csv(game_to_csv(full)) == full
    alone = replace(full, deals=(), written=(), start=None, totals=full.start, result={seat: 0 for seat in game.seats})
    assert game_from_json(game_to_json(alone)) == alone
    assert game_from_csv(game_to_csv(alone)) == alone


# --- the audit -------------------------------------------------------------------------------------------------------


def honest(game: Game) -> Paper | None:
    """What an honest table writes; None where a half would have to be written."""
    paper = {(posted.deal, entry.cell): entry.total for posted in ledger(game).deals for entry in posted.entries}
    if any(isinstance(value, Fraction) for value in paper.values()):
        return None
    return {box: int(value) for box, value in paper.items()}


def on_paper(game: Game, paper: Paper) -> Game:
    """The game with these totals written down."""
    return replace(
        game, written=tuple(Written(deal, c.column, c.seat, value, c.on) for (deal, c), value in paper.items())
    )


def filled_in(game: Game, paper: Paper) -> Paper:
    """The same sheet by someone who fills in every box of every row."""
    full, standing = {}, dict.fromkeys(cells_of(game.seats), 0)
    for deal in game.deals:
        for cell in standing:
            standing[cell] = paper.get((deal.deal, cell), standing[cell])
            full[deal.deal, cell] = standing[cell]
    return full


def carried(paper: Paper, box: BOX, amount: int) -> Paper:
    """The sheet after a slip: the box and every later total of its column off by an amount."""
    return {b: v + amount if b[1] == box[1] and b[0] >= box[0] else v for b, v in paper.items()}


def stands(paper: Paper, cell: Cell, before: int) -> int:
    """What stands in a column above a deal."""
    above = [(deal, value) for (deal, c), value in paper.items() if c == cell and deal < before]
    return max(above)[1] if above else 0


def accounted(game: Game, paper: Paper) -> None:
    """The audit's mistakes and notes explain every box that is wrong at the end, and the whole difference."""
    audit = check(on_paper(game, paper))
    assert audit.totals_written is not None
    down = {note.seat for note in audit.notes if note.code == "counting_down"}
    for cell in cells_of(game.seats):
        left = stands(paper, cell, 10_000)
        if cell.column == "pool" and cell.seat in down and any(c == cell for _, c in paper):
            left = (game.limit or 0) - left
        assert audit.totals_written[cell] == left
    cost = dict.fromkeys(game.seats, Fraction(0))
    for mistake in audit.mistakes:
        for seat, amount in mistake.cost.items():
            cost[seat] += amount
    # A note changes no settlement, but for a half that whole whists cannot show.
    if all(note.code != "rounded" for note in audit.notes):
        assert cost == audit.difference


@given(games())
@RELAXED
def test_an_honest_sheet_has_no_mistakes(game: Game) -> None:
    paper = honest(game)
    assume(paper)
    for sheet in (paper, filled_in(game, paper or {})):
        audit = check(on_paper(game, sheet or {}))
        assert not audit.mistakes and not audit.notes
        assert audit.played == audit.written


@given(games(), st.data())
@RELAXED
def test_one_slip_is_found_alone_in_its_box(game: Game, data: st.DataObject) -> None:
    paper = honest(game)
    assume(paper)
    assert paper is not None
    box = data.draw(st.sampled_from(sorted(paper, key=str)))
    wrote = data.draw(st.integers(0, 400))
    due = paper[box]
    before = stands(paper, box[1], box[0])
    assume(wrote not in (due, before))
    sheet = carried(paper, box, wrote - due)
    found = check(on_paper(game, sheet)).mistakes
    assert [(m.deal, m.cell, m.written, m.expected) for m in found] == [(*box, wrote, due)]
    assert {(m.deal, m.cell) for m in check(on_paper(game, filled_in(game, sheet))).mistakes} == {box}
    accounted(game, sheet)


@given(games(), st.data())
@RELAXED
def test_a_forgotten_entry_is_found_alone(game: Game, data: st.DataObject) -> None:
    paper = honest(game)
    assume(paper and len(paper) > 1)
    assert paper is not None
    box = data.draw(st.sampled_from(sorted(paper, key=str)))
    before = stands(paper, box[1], box[0])
    left = {b: v for b, v in paper.items() if b != box}
    for sheet in (left, carried(left, box, before - paper[box])):
        found = check(on_paper(game, sheet)).mistakes
        assert [(m.deal, m.cell, m.written) for m in found] == [(*box, None)]
        assert found[0].kind in ("forgotten", "missed help", "wrong row")
        accounted(game, sheet)


@given(games(), st.data(), st.sampled_from(["wrong opponent", "wrong column", "wrong player"]), st.booleans())
@RELAXED
def test_an_entry_in_another_box_is_one_mistake(game: Game, data: st.DataObject, kind: str, copied: bool) -> None:
    """Whether the amount is added to the other box, or the total that belonged elsewhere is written into it."""
    paper = honest(game)
    assume(paper)
    assert paper is not None
    box = data.draw(st.sampled_from(sorted(paper, key=str)))
    deal, cell = box
    near = {
        "wrong opponent": lambda c: cell.column == c.column == "whists" and c.seat == cell.seat,
        "wrong column": lambda c: c.seat == cell.seat and c.column != cell.column,
        "wrong player": lambda c: c.seat != cell.seat and c.column == cell.column and c.on == cell.on,
    }[kind]
    others = [c for c in cells_of(game.seats) if c != cell and near(c) and (deal, c) not in paper]
    assume(others)
    other = data.draw(st.sampled_from(others))
    before = stands(paper, other, deal)
    added = paper[box] - stands(paper, cell, deal)
    wrote = paper[box] if copied else before + added
    assume(wrote != before)
    sheet = carried({b: v for b, v in paper.items() if b != box}, box, -added)
    sheet = carried(sheet | {(deal, other): before}, (deal, other), wrote - before)
    audit = check(on_paper(game, sheet))
    accounted(game, sheet)
    if audit.notes:
        # By chance it looks like an amnesty, or like the zero of raspasy off the mountain: it settles the same.
        assert all(note.code in ("equivalent", "amnesty", "counting_down") for note in audit.notes)
        return
    assert [(m.deal, m.cell) for m in audit.mistakes] == [(deal, other)]
    assert audit.mistakes[0].kind == kind or audit.mistakes[0].kind in ("missed help", "pool over the limit")
    if audit.mistakes[0].kind == kind:
        assert audit.mistakes[0].instead == cell


@given(games(), st.data(), st.booleans())
@RELAXED
def test_an_entry_in_another_row_is_one_mistake(game: Game, data: st.DataObject, early: bool) -> None:
    paper = honest(game)
    assume(paper)
    assert paper is not None
    box = data.draw(st.sampled_from(sorted(paper, key=str)))
    deal, cell = box
    row = deal - 1 if early else deal + 1
    assume(1 <= row <= len(game.deals) and (row, cell) not in paper)
    sheet = {((row, cell) if b == box else b): v for b, v in paper.items()}
    found = check(on_paper(game, sheet)).mistakes
    assert [(m.deal, m.cell) for m in found] == [(min(row, deal), cell)]
    assert found[0].kind in ("wrong row", "missed help") and not any(found[0].cost.values())
    accounted(game, sheet)


@given(games(("sochi", "rostov", "kazakhstan")), st.data())
@RELAXED
def test_help_that_follows_from_a_wrong_pool_is_no_second_mistake(game: Game, data: st.DataObject) -> None:
    """After one slip in a pool everyone goes on by the paper: whose pool closes, and who is helped, may change."""
    assume(game.pool is not None)
    paper = honest(game)
    assume(paper)
    assert paper is not None
    pools = sorted((box for box in paper if box[1].column == "pool"), key=str)
    assume(pools and len(paper) > 1)
    box = data.draw(st.sampled_from(pools))
    wrote = data.draw(st.sampled_from([None, paper[box] - 2, paper[box] + 1]))
    assume(wrote is None or (0 <= wrote <= (game.limit or 0) and wrote != stands(paper, box[1], box[0])))
    rules, state, sheet = game.rules, opening(len(game.players), game.limit), {}
    cells = list(cells_of(game.seats))
    for deal in game.deals:
        standing = list(state.cells)
        state, entries = post(rules, state, deal)
        for entry in entries:
            value = wrote if (deal.deal, entry.cell) == box else entry.total
            assume(not isinstance(value, Fraction))
            if value is not None:
                sheet[deal.deal, entry.cell] = int(value)
                standing[cells.index(entry.cell)] = value
        state = state._replace(cells=tuple(standing))
    assume(sheet)
    audit = check(on_paper(game, sheet))
    assert [(m.deal, m.cell) for m in audit.mistakes] == [box] or audit.mistakes[0].kind == "missed help"
    assert len(audit.mistakes) == 1
    accounted(game, sheet)


@given(games(), st.data())
@RELAXED
def test_any_two_slips_are_both_found(game: Game, data: st.DataObject) -> None:
    """In two boxes of different columns, also where one cancels the other in the settlement."""
    paper = honest(game)
    assume(paper and len({cell for _, cell in paper}) > 1)
    assert paper is not None
    one = data.draw(st.sampled_from(sorted(paper, key=str)))
    two = data.draw(st.sampled_from([b for b in sorted(paper, key=str) if b[1] != one[1]]))
    amount = data.draw(st.sampled_from([1, 3, 7, -1, 20]))
    sheet = carried(carried(paper, one, amount), two, data.draw(st.sampled_from([amount, -amount])))
    audit = check(on_paper(game, sheet))
    accounted(game, sheet)
    if not any(note.code == "amnesty" for note in audit.notes):
        covered = {(m.deal, cell) for m in audit.mistakes for cell in (m.cell, m.instead, *m.changes) if cell}
        assert {one, two} <= covered


@given(games(), st.dictionaries(st.tuples(st.integers(0, 15), st.integers(0, 19)), st.integers(-5, 200), max_size=25))
@RELAXED
def test_whatever_is_written_is_accounted_for(game: Game, scribble: dict[tuple[int, int], int]) -> None:
    """Any paper at all: no crash, and mistakes and notes explain every box and the whole difference."""
    cells = list(cells_of(game.seats))
    sheet = {
        (deal, cells[place % len(cells)]): value
        for (deal, place), value in scribble.items()
        if 1 <= deal <= len(game.deals)
    }
    assume(sheet)
    assert not violations(on_paper(game, sheet))
    accounted(game, sheet)
