"""What the annual report of the harbour says."""

CHAIR = (
    "The year 2023 was the first in which the extension of Skarn Quay was in use from January to December. Cargo "
    "grew by 2.3 per cent and vessel calls by 3.7 per cent, and the Authority closed its accounts with a surplus "
    "that will be spent entirely on the approach channel.",
    "These results were earned in a year that was not an easy one. The storm of the night of 17 February moved "
    "forty-one armour blocks on the seaward face of the West Mole and closed the port to all traffic for three days. "
    "Temporary repairs held for the rest of the winter, and the permanent repair was completed in September within "
    "the budget that the Board had set in the spring.",
    "Two decisions of the Board deserve mention. In May it adopted a new tariff, under which ships are charged by "
    "their measured emissions as well as by their size. In October it signed the agreement that transfers the "
    "fishermen's landing in the Inner Basin to the association of its users for a term of twenty years; the Authority "
    "keeps the duty to maintain the quay wall, and the association takes over the ice plant and the auction hall.",
    "The Board thanks the eighty-six members of the staff, the pilots of Tolland Sound, and the agents and hauliers "
    "who brought their business here. The coming year will be one of dredging, and dredging is a nuisance to "
    "everyone who has to pass it. We shall publish the working hours of the dredger four weeks ahead and keep to them.",
)
ABOUT = (
    "The Merrow Haven Harbour Authority is a public body. It owns the quays, the moles and the navigation marks "
    "between Cape Ansel and the mouth of the Lune, licenses the pilots, and lets land to firms that need to be close "
    "to ships. It is governed by a Board of seven, four of whom are appointed by the municipality and three elected "
    "by the users of the port. The port in figures, at the end of the year:"
)
ABOUT_ITEMS = (
    "2,340 metres of quay in eleven berths, three of them on Skarn Quay;",
    "a depth of 9.1 metres alongside Skarn Quay at the lowest tide, and of 6.4 metres in the Inner Basin;",
    "18,400 square metres of covered storage in four sheds, and silos for 22,000 tonnes of grain;",
    "two rail sidings, each 410 metres long, joined to the national network at Merrow Junction.",
)
CARGO = (
    "Table 1 shows the cargo handled over the public quays in the past three years. Two groups account for most of "
    "the growth. Containers and other unit loads gained again, because the weekly feeder service began to call twice "
    "a week in April. Grain gained because of a dry harvest inland, which filled the silos early and kept the driers "
    "in use for only eleven days."
)
CARGO_AFTER = (
    "The table does not include fuel supplied to ships, which amounted to 21,000 tonnes and is delivered by barge from "
    "outside the port."
)
BULK = (
    "Timber suffered from the weak market for sawn goods; the yard behind Shed 3 was at no time more than two thirds "
    "full. Aggregates were steady until the motorway contract ended in August. The decline in petroleum products is "
    "expected to go on: two of the three district heating plants that are supplied through the port have been "
    "converted to wood chips, and the third will follow. The Authority has begun to plan for the land that the tanks "
    "now occupy.",
    "The grain terminal worked two shifts from the last week of July until the middle of October. A second "
    "loading spout, paid for by the operator, raised the rate of loading from 300 to 420 tonnes an hour, and no ship "
    "waited longer than nineteen hours for a berth.",
)
FISH = (
    "Landings recovered after the poor season of 2022. Forty-three vessels landed regularly, two fewer than "
    "before, and the average price at the auction was EUR 3.42 a kilogram. The association of users has announced "
    "that it will replace the ice plant, which dates from 1988, with one that makes flake ice from sea water.",
)
TRAFFIC = (
    "The port received 1,058 vessel calls, against 1,020 in the year before. Figure 1 compares the quarters. The "
    "average ship was larger than ever: the mean gross tonnage rose from 4,870 to 5,130, and the longest vessel, a "
    "bulk carrier of 189 metres, berthed at Skarn Quay with the help of a second tug hired for the occasion."
)
FERRIES = (
    "The ferry to the Outer Isles carried 214,000 passengers and 38,500 cars. The operator has ordered a hybrid ship "
    "for delivery in two years, which will need a supply of 4 megawatts while she lies at the quay overnight. The "
    "new waiting room was opened in June; it is the first building of the port without any gas connection.",
    "Cruise ships called seven times. The Authority keeps to its rule that only one such ship may be in port at a "
    "time, and turned down three requests.",
)
PILOTAGE = (
    "Pilotage is compulsory for vessels of more than 70 metres. The nine pilots of Tolland Sound carried out 1,312 "
    "acts of pilotage. They were delayed on fourteen occasions, on eleven of them by fog. A trial of remote advice "
    "from the shore, in which the pilot stays in the traffic centre and speaks to the master by radio, was "
    "broken off in November, as neither side found the picture of the radar sharp enough inside the moles.",
)
COAST = (
    "The survey after the February storm found the core of the West Mole sound. The forty-one displaced blocks were "
    "lifted back or replaced by new ones of 12 tonnes, and the crest was raised by 40 centimetres over its outer 110 "
    "metres. Figure 2 shows the head of the mole after the work. The light was never out of service; its lamp is now "
    "fed from a battery that lasts for nine days without the mains."
)
WATER = (
    "The water of the Inner Basin was sampled every fortnight. All samples met the standard for bathing water but "
    "two, both taken after heavy rain had overloaded the municipal sewers. Sediment from the berths was tested "
    "before the dredging licence was applied for: of the eighteen cores, fifteen may be placed at sea, and three, "
    "all from the foot of the old slipway, must be brought ashore.",
    "Shore power was used by thirty-six ships for a total of 2,900 hours. It is now offered at four berths.",
)
SAFETY = (
    "There were four accidents that led to lost time, after seven in the year before. None was grave. Three of the "
    "four happened while lashing was being released on deck, and the Authority has asked the stevedores to review "
    "that work together with their insurers. The port's fire boat was called out six times, twice to help outside "
    "the harbour limits.",
)
INCOME = (
    "Operating income rose by 4.2 per cent to EUR 14.22 million. Dues on cargo and on vessels made up nearly three "
    "quarters of it; the remainder came from passengers, rents and pilotage. The new tariff was in force for seven "
    "months and changed the total little, as intended, but moved part of the burden from the cleaner to the dirtier "
    "half of the fleet.",
)
EXPENDITURE = (
    "Expenditure is shown in Table 2. It grew by half a per cent. A new contract for electricity offset most of the "
    "rise in wages, and less was spent on maintenance, because part of the repair of the West Mole was paid by the "
    "insurers. The surplus of EUR 1.22 million compares with EUR 0.72 million in 2022.",
)
WORKS = (
    "The Board has approved works to the value of EUR 3.75 million. The surplus of the year goes to the channel; the "
    "remaining EUR 2.53 million comes from the reserve for renewals. The works are:"
)
WORKS_ITEMS = (
    "shore power for the overnight berth of the ferry, EUR 0.74 million;",
    "deepening of the approach channel to 9.5 metres, EUR 1.85 million;",
    "new fenders at berths 3 and 4, EUR 0.62 million;",
    "a new roof for Shed 2, EUR 0.38 million;",
    "renewal of the leading lights in Tolland Sound, EUR 0.16 million.",
)
CLOSING = (
    "Tenders for the channel will be invited in January, and dredging should begin after the spring spawning, which "
    "the licence protects from the middle of March to the end of May. The Board will report on progress at the "
    "users' meeting in September."
)
