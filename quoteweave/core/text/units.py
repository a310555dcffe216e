"""Units, currencies and scales by their names and symbols, and the ways to write a number with one.

Units of one dimension differ by an exact factor, so that 290 cm and 2.9 m are the same. A ton is taken for a tonne, and
percentage points for per cent.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import STOP_WORDS

_TABLE = """
length 0.000000001 nm nanometre nanometer
length 0.000001 μm micrometre micrometer
length 0.001 mm millimetre millimeter
length 0.01 cm centimetre centimeter
length 1 m metre meter
length 1000 km kilometre kilometer
mile 1 mi mile
foot 1 ft foot feet
area 0.000001 mm2
area 0.0001 cm2
area 1 m2 sqm
area 10000 ha hectare
area 1000000 km2
volume 0.000001 cm3
volume 1 m3
volume 0.001 l L litre liter
volume 0.000000001 μl μL microlitre microliter
volume 0.000001 ml mL millilitre milliliter
volume 0.00001 cl centilitre centiliter
volume 0.0001 dl dL decilitre deciliter
mass 0.000000000001 ng nanogram
mass 0.000000001 μg mcg microgram
mass 0.000001 mg milligram
mass 0.001 g gram gramme
mass 1 kg kilo kilogram kilogramme
mass 1000 t ton tonne
time 0.000000001 ns nanosecond
time 0.000001 μs microsecond
time 0.001 ms millisecond
time 1 s sec second
time 60 min minute
time 3600 h hr hour
time 86400 day
time 604800 week
nights 1 night
months 1 month
months 12 yr year
horsepower 1 hp bhp horsepower
power 0.001 mW milliwatt
power 1 W watt
power 1000 kW kilowatt
power 1000000 MW megawatt
power 1000000000 GW gigawatt
power 1000000000000 TW terawatt
energy 1 Wh
energy 1000 kWh
energy 1.163 kcal kilocalorie calorie
energy 1000000 MWh
energy 1000000000 GWh
energy 1000000000000 TWh
frequency 1 Hz hertz
frequency 1000 kHz
frequency 1000000 MHz
frequency 1000000000 GHz
data 1000 KB kB kilobyte
data 1000000 MB megabyte
data 1000000000 GB gigabyte
data 1000000000000 TB terabyte
bitrate 1000 kbps Kbps
bitrate 1000000 Mbps mbps
bitrate 1000000000 Gbps gbps
byterate 1000 kBps KBps
byterate 1000000 MBps
byterate 1000000000 GBps
celsius 1 C °C celsius
fahrenheit 1 F °F fahrenheit
voltage 0.000001 μV microvolt
voltage 0.001 mV millivolt
voltage 1 V volt
voltage 1000 kV kilovolt
current 0.000001 μA microampere microamp
current 0.001 mA milliampere milliamp
current 1 A ampere amp
resistance 0.001 mΩ milliohm
resistance 1 Ω ohm
resistance 1000 kΩ kiloohm
resistance 1000000 MΩ megaohm
pressure 0.001 mPa millipascal
pressure 1 Pa pascal
pressure 100 hPa hectopascal mbar millibar
pressure 1000 kPa kilopascal
pressure 100000 bar
pressure 1000000 MPa megapascal
psi 1 psi
sound 1 dB decibel
rotation 1 rpm
speed 1 mph
speed 1.150779 knot
inch 1 inch inches
yard 1 yd yard
pound 1 lb
ounce 1 oz ounce
percent 0.1 ‰ permille
percent 1 % percent pct pp
dollar 1 $ US$ USD dollar
euro 1 € EUR euro
sterling 1 £ GBP
yen 1 ¥ JPY yen
franc 1 CHF franc
"""
_MICRO_AND_OHM = str.maketrans("\u00b5\u2126", "μΩ")
SCALES = {"thousand": 3, "million": 6, "mn": 6, "mio": 6, "billion": 9, "bn": 9, "trillion": 12, "tn": 12}
"""The power of ten that each word stands for."""
STATED_SCALES = {
    **SCALES,
    **{"lakh": 5, "crore": 7, "tausend": 3, "tsd": 3, "millionen": 6, "milliarde": 9, "milliarden": 9, "mrd": 9},
    **{"millier": 3, "milliard": 9, "millones": 6, "migliaia": 3, "milioni": 6, "miliardi": 9},
}
"""The same with the words of other languages that tables write above their numbers, but Spanish "miles", a unit."""
CURRENCIES = frozenset({"dollar", "euro", "sterling", "yen", "franc"})
SCALE_LETTERS = {"k": 3, "m": 6, "b": 9}
"""The same for letters that abbreviate these words."""
_NAME = lazy_regex(r"(?:(?P<power>square|cubic)\s+)?(?P<name>[^\W\d_]{3,})")
# Trips per hour are no speed, nor are bits per second: only distances over time are.
_SPEED = lazy_regex(
    r"\d\s?(?:km/h|kmh|kph|m/s|kn|(?:km|m|ft|(?i:(?:kilo)?met(?:re|er)s?|miles?|feet|knots?))\s(?:an?|per)\s(?:hour|minute|second|h|s))\b"
)
# A longer run of digits is not an amount.
_AMOUNT = lazy_regex(
    r"(?<![\w.,$€£¥])(?P<sign>(?:US)?[$€£¥] ?)?"
    r"(?P<number>\d{1,3}(?:,\d{3}){1,9}(?:\.\d{1,30})?|\d{1,30}(?:\.\d{1,30})?)(?![.,]?\d)"
    r"(?:[ -]?(?P<unit>°[CF]|[^\W\d_]+[23]?))?(?!\w)"
)
# The most digits before "million" and the like that are also written out: 4.2 million as 4,200,000.
_MAX_SCALED_DIGITS = 4
STATED_SCALE_WORDS = "|".join(word for word in STATED_SCALES if len(word) > 2)
"""A pattern for the longer ones, in the singular."""
_SCALE = rf"(?:{STATED_SCALE_WORDS})s?\.?|(?-i:[mb]n|tn)|['’]?000['’]?s?|miles"
_SCALE_WORD = lazy_regex(rf"(?<![^\W\d_])({'|'.join(STATED_SCALES)}|000)s?(?![^\W\d_])")
_MONEY = r"(?-i:[A-Z]{2,3}|(?:US|AU|C)?[$€£¥])|dollars|euros?"
# What says of all numbers of a table how they are written: "$ in millions", "EUR million", "en milliers d'euros", "£m".
# "MN" and "TN" are states, unless a currency stands before them.
_STATED_SCALE = lazy_regex(
    rf"(?<![\w-])(?:(?:(?:(?:{_MONEY})\s+and\s+)?(?:{_MONEY}|amounts|figures|numbers|shares|values)\s+)?(?:in|en)\s+(?:[\w$€£¥.]+\s+){{0,2}}?(?:{_SCALE})"
    rf"|(?:{_MONEY})\s?'?(?:{_SCALE})|(?:[$€£¥]|(?-i:[A-Z]{{3}}\s))\s?(?:[mb]n|tn)|[$€£¥]\s?[mkb]|(?-i:[Tk](?:€|EUR)))(?![\w-])"
    rf"|^(?:{_SCALE})$",
    re.IGNORECASE,
)
_PARTS_OF_SCALES = (*STATED_SCALES, "000", "miles", *"$€£¥", "eur")
_STATED_UNIT = lazy_regex(
    r"(?:^|(?<=[^\W\d_])\s+)(?:in|en)\s+(?P<unit>[^\W\d_][\w²³]*|[%‰$€£¥]|°[CF])\.?$", re.IGNORECASE
)
# Something else is said by "You are there in minutes" and "used in thousands of homes", but not by "Sizes are in mm".
_IN_CLAUSE = lazy_regex(
    r"\b(?:[Ww]e|[Yy]ou|[Tt]hey|[Ii]t|[Hh]e|[Ss]he|who|which|that|where|when)\b"
    r"|\b(?:is|are|was|were|be|has|have|can|will)\s+(?!(?:given|stated|expressed|shown|presented|reported|measured|quoted)?\s*$)"
)
_WORD_OR_SIGN = lazy_regex(r"[^\W\d_]+|[$€£¥]")
_MONEY_AMOUNT = lazy_regex(
    r"(?<![\w.,])(?P<sign>(?:US)?[$€£¥]|USD|EUR|GBP|CHF|JPY)\s?\(?(?P<number>\d+(?:[.,]\d+)*)\)?"
    rf"(?P<scale>\s?(?:{_SCALE}|[kmb])(?!\w))?(?P<per>\s?(?:/|(?:an?|per|each)\b))?",
    re.IGNORECASE,
)
_WHOLE_NUMBER = lazy_regex(r"[(+−–-]?\s*[$€£¥]?\s*[(+−–-]?(?!0\d)\d+(?:[.,'’ ]\d{3})*(?:[.,]\d+)?\s*\)?\s*%?\s*\)?")
_PRICE = lazy_regex(r"[.,]\d\d$")
# What is told of one share, hour or member is in no scale.
_PER_ITEM = lazy_regex(
    r"\b(?:per|each|average|hourly|(?<!purchase )prices?|wage|salary|fee|dividend|ticket|je|par|por|pro(?!\s+forma))\b",
    re.IGNORECASE,
)
EXCEPTS = lazy_regex(r"\b(?:unless|except|otherwise|sofern|soweit|sauf|salvo)\b")
"""What says that not all amounts are in a unit that is stated for them, in lower case."""
_WRITTEN_OUT = lazy_regex(r"\d+[.,]\d{3}[.,]\d{3}|\d{3}[.,]000")
_SENTENCE_END = lazy_regex(r"(?<=[.;!?])\s+")
# A currency without a sign of its own here; its dollars, as those of "C$", are told apart by that sign.
_OTHER_MONEY = lazy_regex(
    r"(?-i:\b(?!USD|EUR|GBP|CHF|JPY|PER|ALL|THE|AND|FOR|NOT)[A-Z]{3}\b)|\brs\b|\b(?:rupees?|pesos?|reais|roubles?|rubles?|yuan|renminbi|won|rand|baht|lira"
    r"|kron(?:or|er|a)|crowns|zlot[ys]|forints?|ringgit|rupiah|dirhams?|riyals?|shekels?)\b",
    re.IGNORECASE,
)
_BRACKETS = lazy_regex(r"[(\[]([^()\[\]]{2,120})[)\]]")
MAX_UNIT_LINE = 120
"""The most characters of a line outside brackets that says what unit a table is in."""
MAX_SYMBOL = 3
"""The most letters of a unit that may be its symbol rather than a word: "hrs"."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measurement; `factor` converts numbers in it to the base unit of its dimension."""

    dimension: str
    factor: Decimal


def find_unit(name: str, *, power: int = 1) -> Unit | None:
    """Look up a unit by its name or symbol, singular or plural; `power` is 2 for square and 3 for cubic units."""
    table, name = _units(), name.translate(_MICRO_AND_OHM)
    lower = name.casefold()
    unit = table.get(name)
    if unit is None and len(lower) > 2 and lower not in STOP_WORDS:  # "has" names no hectares
        unit = table.get(lower) or table.get(lower.removesuffix("s"))
    if unit is None or power == 1 or unit.dimension != "length":
        return unit
    return Unit("area" if power == 2 else "volume", unit.factor**power)


@cache
def _units() -> dict[str, Unit]:
    units = {}
    for line in _TABLE.split("\n"):
        dimension, factor, *names = line.split() or ("", "0")
        units.update(dict.fromkeys(names, Unit(dimension, Decimal(factor))))
    return units


@cache
def unit_words() -> list[tuple[str, str]]:
    """The units by their words, each with all its spellings that cannot be other words: hour, hrs."""
    names = dict[Unit, list[str]]()
    for name, unit in _units().items():
        if unit.dimension not in CURRENCIES | {"percent"} and name.isalpha() and len(name) > 1:
            names.setdefault(unit, []).append(name)
    written = {unit: " ".join([*spellings, *(f"{name}s" for name in spellings)]) for unit, spellings in names.items()}
    return [(name, written[unit]) for unit, spellings in names.items() for name in spellings if len(name) > MAX_SYMBOL]


def amounts_in(text: str) -> list[str]:
    """The numbers that can be written in other ways, as written, with the unit or scale after them.

    >>> amounts_in("At 5 km, $5m, 4.2 million or 12-month, and 4,200,000, but not at 5 or 5 euros.")
    ['5 km', '$5m', '4.2 million', '12-month', '4,200,000']
    """
    return [match[0] for match in _AMOUNT.finditer(text) if _spellings(match)]


def has_unscaled_money(text: str, unit: str = "") -> bool:
    """Whether a text has amounts of money, all without a scale: those that may be in a unit stated for all of them.

    They are in the currency of that unit, if it names one. Prices, as "$5 per share" and "$4.99", are passed over, and
    sentences about them.

    >>> has_unscaled_money("Net sales were $192,052.", "amounts in millions"), has_unscaled_money("$5 per share")
    (True, False)
    >>> has_unscaled_money("Sales of $4 million, and $500"), has_unscaled_money("Debt was $500.", "in € million")
    (False, False)
    """
    amounts = [*_MONEY_AMOUNT.finditer(text)]
    if states_scale(text) or any(amount["scale"] or _WRITTEN_OUT.fullmatch(amount["number"]) for amount in amounts):
        return False
    # "Net income was $5,007, or $11.27 per share" is not about one share.
    sentences = _SENTENCE_END.split(text)
    parts = (_MONEY_AMOUNT.sub(lambda amount: "" if amount["per"] else amount[0], part) for part in sentences)
    return any(_has_money(part, unit) for part in parts if not _PER_ITEM.search(part))


def has_unscaled_money_in_cells(table: str, unit: str = "") -> bool:
    """The same for a table: its rows are lines, and only a unit that excepts something holds where rows are of prices.

    >>> has_unscaled_money_in_cells("- | 2021\\nSales | $ 500\\nPer share | $ 2", "in millions, except per share")
    True
    """
    head, *rows = table.splitlines() or [""]
    of_one = [row for row in rows if _PER_ITEM.search(row)]
    excepts = EXCEPTS.search(unit.casefold()) is not None or not any(map(_MONEY_AMOUNT.search, of_one))
    is_unscaled = not any(amount["scale"] for amount in _MONEY_AMOUNT.finditer(table)) and not _PER_ITEM.search(head)
    return is_unscaled and excepts and any(_has_money(row, unit) for row in (head, *rows) if row not in of_one)


def _has_money(text: str, unit: str) -> bool:
    """Whether a text has an amount in the currency of the unit, or in any for a unit that names none."""
    currencies = {currency.dimension for currency in currencies_in(unit)}
    if not currencies and _OTHER_MONEY.search(unit):
        return False
    amounts = (amount for amount in _MONEY_AMOUNT.finditer(text) if not amount["per"])
    bare = [find_unit(amount["sign"]) for amount in amounts if not _PRICE.search(amount["number"])]
    return any(currency is not None and (not currencies or currency.dimension in currencies) for currency in bare)


def names_money(text: str) -> bool:
    """Whether a text names a currency."""
    return bool(currencies_in(text)) or _OTHER_MONEY.search(text) is not None


def prices_in(text: str) -> list[str]:
    """The numbers of a text that are prices, as in "$5 per share" and "$4.99", and so in no unit of a chapter."""
    amounts = _MONEY_AMOUNT.finditer(text)
    return [amount["number"] for amount in amounts if amount["per"] or _PRICE.search(amount["number"])]


def currencies_in(text: str) -> frozenset[Unit]:
    """The currencies that a text names, by words or signs."""
    units = filter(None, map(find_unit, _WORD_OR_SIGN.findall(text)))
    return frozenset(unit for unit in units if unit.dimension in CURRENCIES)


def scales_named(text: str) -> frozenset[int]:
    """The powers of ten for which a text has a word.

    >>> scales_named("in '000 euros, except for columns in millions")
    frozenset({3, 6})
    """
    return frozenset(3 if word == "000" else STATED_SCALES[word] for word in _SCALE_WORD.findall(text.casefold()))


def states_scale(text: str) -> bool:
    """Whether a text says anywhere that numbers are in thousands, millions and the like."""
    return any(map(text.casefold().__contains__, _PARTS_OF_SCALES)) and _STATED_SCALE.search(text) is not None


def stated_unit(text: str) -> str | None:
    """What a heading or a sentence above a table says of all its numbers: their scale, or their unit; None for nothing.

    That is the last bracket which says so, or a short line as a whole.

    >>> stated_unit("Sales were as follows ($ in millions, except per share amounts):")
    '$ in millions, except per share amounts'
    >>> stated_unit("All lengths in mm."), stated_unit("It rose (by 2 in millions of years).")
    ('All lengths in mm', None)
    """
    line = " ".join(text.split()).rstrip(":.")
    brackets = [match[1].strip() for match in _BRACKETS.finditer(text)]
    stated = [" ".join(bracket.split()) for bracket in brackets if _states_unit(bracket)]
    if stated or brackets or len(line) > MAX_UNIT_LINE or not _states_unit(line):
        return stated[-1] if stated else None
    scale = _STATED_SCALE.search(line)
    return line[scale.start() :] if scale else line


def _states_unit(text: str) -> bool:
    """Whether a text without numbers has a scale, or ends with a unit, and no clause about something else before it."""
    text = text.strip()
    stated = _STATED_SCALE.search(text)
    if stated is None and (unit := _STATED_UNIT.search(text)) and find_unit(unit["unit"]):
        stated = unit
    if stated is None or re.search(r"\d", text.replace("000", "")):
        return False
    return _IN_CLAUSE.search(text, 0, stated.start()) is None


def join_cell_lines(lines: Iterable[str]) -> str:
    """The text of a cell with these lines; numbers one below the other are apart: "10" and "200" are not "10 200".

    >>> join_cell_lines(["10", "200"]), join_cell_lines(["Property and", "3 cranes"])
    ('10; 200', 'Property and 3 cranes')
    >>> join_cell_lines(["31.12.", "2021"]), join_cell_lines(["0131", "555"]), join_cell_lines(["1234 5678", "9012"])
    ('31.12. 2021', '0131 555', '1234 5678 9012')
    """
    texts = [text for line in lines if (text := " ".join(line.split()))]
    return ("; " if len(texts) > 1 and all(map(_WHOLE_NUMBER.fullmatch, texts)) else " ").join(texts)


def dimensions_in(text: str) -> frozenset[str]:
    """The dimensions of the units in a text: symbols after a number, or names of three letters or more.

    >>> sorted(dimensions_in("A range of 60 to 90 kilometres in 5 h, and 90 square metres."))
    ['area', 'length', 'time']
    """
    named = [("", match["unit"] or "") for match in _AMOUNT.finditer(text)] + _NAME.findall(text)
    units = (find_unit(name, power={"square": 2, "cubic": 3}.get(power, 1)) for power, name in named)
    return frozenset([*(unit.dimension for unit in units if unit), *(["speed"] if _SPEED.search(text) else [])])


def amount_spellings(amount: str) -> list[str]:
    """The ways to write one of `amounts_in`: `5 km` as `5 kilometres`, `4.2 million` as `4.2mn` and `4,200,000`.

    Numbers are not converted, so that `5 km` is not `5,000 m`.
    """
    match = _AMOUNT.fullmatch(amount)
    return [amount] if match is None else _spellings(match)


def _spellings(match: "re.Match[str]") -> list[str]:
    """Other ways to write a number with its unit or scale; none if it has neither."""
    number, name = match["number"], match["unit"] or ""
    power = SCALES.get(name.casefold()) or (SCALE_LETTERS.get(name.casefold()) if match["sign"] else None)
    value = Decimal(number.replace(",", "")).scaleb(power or 0)
    counts = {power: number} if power else {}
    if power or (value >= 10**6 and len(value.normalize().as_tuple().digits) <= _MAX_SCALED_DIGITS):
        smaller = {size: value.scaleb(-size) for size in SCALES.values()}
        counts = {size: f"{count.normalize():f}" for size, count in smaller.items() if 1 <= count < 1000} | counts
    scaled = [(counts[size], word) for word, size in (*SCALES.items(), *SCALE_LETTERS.items()) if size in counts]
    written = [*scaled, *((number, unit_name) for unit_name in ([] if power else _names_of(name)))]
    spellings = [f"{count}{gap}{word}" for count, word in written for gap in (" ", "")]
    spellings += [f"{int(value):,}"] if counts and value == int(value) else []
    return list(dict.fromkeys(spellings))


def _names_of(name: str) -> list[str]:
    """The names of the same unit that are words; none for an unknown unit."""
    unit = find_unit(name)
    if unit is None or unit.dimension in CURRENCIES:
        return []
    return [word for word, meant in _units().items() if meant == unit and word.isalnum()]
