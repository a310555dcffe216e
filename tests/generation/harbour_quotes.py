"""Quotes of three small documents, as a retriever might hand them to a generator."""

import asyncio
from collections.abc import Sequence
from typing import Any, Unpack

from builders import QuoteFields, make_context, make_quote

from quoteweave.core.answers import Answer, Context
from quoteweave.core.records import Query, Quote
from quoteweave.generation.extractive.generator import ExtractiveGenerator

DUES = (
    "Group | 2021 | 2022 | Change\nContainer | 1,204 | 1,310 | +8.8%\nGrain | 486 | 512 | +5.3%\nTimber | 331 | - | -"
)
TRAINS = "Station | Train 1 | Train 2\nSölmatt | 07:40 | 10:40\nKäsern | 08:14 | -\nGrünegg | 08:28 | 11:28"


def quote(text: str, **fields: Unpack[QuoteFields]) -> Quote:
    """A text quote of page 1 of harbour.pdf, but for what `fields` say."""
    quote_fields: QuoteFields = {"document": "harbour.pdf", "bbox": (72, 100, 500, 200), **fields}
    return make_quote(text, **quote_fields)


def image(caption: str | None, text: str = "", **fields: Any) -> Quote:
    """An image quote, a figure unless `fields` say otherwise."""
    return quote(text, **{"layout": "figure", "caption": caption, "image": "ab/ab.png", **fields})


def context(texts: Sequence[Quote | str] = (), images: Sequence[Quote] = ()) -> Context:
    """The quotes as hits, texts ranked before images."""
    return make_context(*(text if isinstance(text, Quote) else quote(text) for text in texts), *images)


def ask(question: str, answer_context: Context) -> Answer:
    """The answer of the generator without a model, as it is by default."""
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), answer_context))


STORM = (
    "These results were earned in a year that was not easy. The storm of 17 February moved forty-one armour blocks "
    "on the West Mole and closed the port to all traffic for three days. Temporary repairs held for the winter."
)
FERRY = (
    "The ferry to the Outer Isles carried 214,000 passengers and 38,500 cars. The operator has ordered a hybrid ship "
    "for delivery in two years. Cruise ships called seven times."
)
GRAIN = (
    "Table 1 gives the dues. Grain gained because of a dry harvest inland, which filled the silos early. The grain "
    "terminal worked two shifts from July until October, and no ship waited longer than nineteen hours for a berth."
)
CALLS = (
    "The port received 1,058 vessel calls, against 1,020 in the year before. Figure 2 compares the quarters. The mean "
    "gross tonnage rose from 4,870 to 5,130."
)
PILOTS = (
    "Pilotage is compulsory for vessels of more than 70 metres. The nine pilots of Tolland Sound were delayed by fog."
)
TICKETS = (
    "Tickets are sold at the counter in Sölmatt and by the conductor. A return ticket to Grünhorn costs 48 francs, and "
    "a single ticket 29 francs. Children under six travel free."
)
DOGS = "Bicycles are carried from May to October, for 6 francs. Dogs need a child's ticket and, on Sundays, a muzzle."
RACK = (
    "The Grünhorn Railway is a rack railway: a toothed wheel under each car grips a bar between the rails. The "
    "steepest part, above Käsern, rises by 236 millimetres in every metre. The ride to the summit takes 61 minutes."
)
ICE = (
    "The day on which river ice breaks up decides when ferries stop. LagStage forecasts it seven days ahead with a "
    "mean absolute error of 2.1 days [3], against 3.9 days for degree-day sums [1, 2]."
)
BASE = "The base temperature is fixed at –0.4 °C for all reaches. Below it the readings say little about melting."

TEXTS = {
    "storm": quote(STORM, section="Statement of the Chair"),
    "ferry": quote(FERRY, page=2, section="Ferries and cruise ships"),
    "grain": quote(GRAIN, page=1, section="Dry bulk"),
    "calls": quote(CALLS, page=2, section="Vessel traffic"),
    "pilots": quote(PILOTS, page=2, section="Pilotage"),
    "tickets": quote(TICKETS, document="guide.pdf", section="Tickets"),
    "dogs": quote(DOGS, document="guide.pdf", section="Luggage, bicycles and dogs"),
    "rack": quote(RACK, document="guide.pdf", section="Welcome"),
    "ice": quote(ICE, document="paper.pdf", section="Abstract"),
    "base": quote(BASE, document="paper.pdf", page=1, section="Parameters"),
}
IMAGES = {
    "dues": image("Table 1: Harbour dues by group, in thousand euros.", DUES, page=1, layout="table"),
    "quarters": image("Figure 2: Vessel calls by quarter in 2022 and 2023.", "0 100 200 300", page=2, layout="chart"),
    "trains": image("Table 1: Trains up the mountain.", TRAINS, document="guide.pdf", page=2, layout="table"),
    "mole": image("Figure 3. The head of the West Mole, with red and white bands on the lighthouse.", page=3),
}
EVERYTHING = context(tuple(TEXTS.values()), tuple(IMAGES.values()))
