"""How long the rules take: a deal, a whole game with its audit, and ten thousand games, on one core.

From the root: ``python -m benchmarks.scoring [GAMES]``. Made-up games: seeded, legal, four players, forty deals.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace

from scoring import Deal, Game, Written, check, ledger, post, settle
from scoring.game import SEATS, defenders
from scoring.ledger import start_of

DEALS = 40


def made_up_game(seed: int, convention: str = "sochi") -> Game:
    """A legal game of forty deals for four players, honestly written down, with two slips in the writing."""
    rng = random.Random(seed)
    deals = []
    for number in range(1, DEALS + 1):
        dealer = SEATS[(number - 2) % 4]
        playing = [seat for seat in SEATS if seat != dealer]
        if rng.random() < 0.2:
            cuts = sorted(rng.sample(range(12), 2))
            tricks = dict(zip(playing, (cuts[0], cuts[1] - cuts[0] - 1, 11 - cuts[1]), strict=True))
            deals.append(Deal(number, "raspasy", dealer=dealer, tricks=tricks))
            continue
        declarer = rng.choice(playing)
        contract = rng.choice(("6", "6", "6", "7", "7", "8", "9"))
        against = defenders(declarer, dealer, SEATS)
        first, second = rng.choice((("whist", "pass"), ("pass", "whist"), ("whist", "whist"), ("pass", "pass")))
        said = dict(zip(against, (first, second), strict=True))
        tricks = {}
        if "whist" in said.values():
            own = int(contract) + rng.choice((-1, 0, 0, 1))
            taken = rng.randint(0, 10 - own)
            tricks = {declarer: own, against[0]: taken, against[1]: 10 - own - taken}
        deals.append(Deal(number, contract, dealer=dealer, declarer=declarer, defence=said, tricks=tricks))
    game = Game(convention, dict.fromkeys(SEATS, ""), tuple(deals), pool=50)
    written = [Written(d.deal, e.column, e.seat, int(e.total), e.on) for d in ledger(game).deals for e in d.entries]
    for _ in range(2):
        place = rng.randrange(len(written))
        slip = written[place]
        written = [replace(w, value=w.value + 2) if w.cell == slip.cell and w.deal >= slip.deal else w for w in written]
    return replace(game, written=tuple(written))


def main() -> None:
    """Print the figures."""
    games = [
        made_up_game(seed, convention) for seed in range(25) for convention in ("sochi", "leningrad", "rostov", "piter")
    ]

    def timed(work: object, repeat: int) -> float:
        best = float("inf")
        for _ in range(repeat):
            began = time.perf_counter()
            work()  # type: ignore[operator]
            best = min(best, time.perf_counter() - began)
        return best

    def enter_all() -> None:
        for game in games:
            rules, state = game.rules, start_of(game)
            for deal in game.deals:
                state, _ = post(rules, state, deal)

    dealt = timed(enter_all, 5) / (len(games) * DEALS)
    settled = timed(lambda: [settle(start_of(game).totals(), game.rules) for game in games], 5) / len(games)
    audited = timed(lambda: [check(game) for game in games], 5) / len(games)
    print(f"a deal entered              {dealt * 1e6:8.1f} µs")
    print(f"totals settled              {settled * 1e6:8.1f} µs")
    print(f"{DEALS} deals with the audit    {audited * 1e3:8.2f} ms")
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    count = 100
    while count <= most:
        began = time.perf_counter()
        for place in range(count):
            check(games[place % len(games)])
        print(f"{count:6d} games audited      {time.perf_counter() - began:8.2f} s")
        count *= 10


if __name__ == "__main__":
    main()
