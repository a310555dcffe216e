"""What the guide to the mountain railway says."""

WELCOME = (
    "The Grünhorn Railway has climbed from the market square of Sölmatt to the shoulder of the Grünhorn since 1898. It "
    "is a rack railway: a toothed wheel under each car grips a toothed bar between the rails, so that the train can go "
    "up slopes on which a wheel alone would slip. The steepest part, above Käsern, rises by 236 millimetres in every "
    "metre.",
    "The ride to the summit takes 61 minutes. Sit on the right for the view of the valley, and on the left, from "
    "Val-Fée upwards, for the larch woods and the gorge below Käsern. The cars are heated, but the platform at "
    "Grünhorn is not; even in August a jacket does no harm.",
    "This guide tells you how to travel, when the trains run, and where they stop. The staff in the grey caps will "
    "gladly tell you the rest.",
)
TICKETS = (
    "Tickets are sold at the counter in Sölmatt and by the conductor at all other stations. A return ticket to "
    "Grünhorn costs 48 francs, and a single ticket 29 francs. Children under six travel free, and those from six to "
    "sixteen at half the fare. A ticket is valid for two days, and you may break the journey as often as you like.",
)
LUGGAGE = (
    "Each passenger may bring one suitcase and one pair of skis. Bicycles are carried from May to October on the "
    "open wagon in front of the car, for 6 francs, as long as there is room: it holds twelve. Dogs need a child's "
    "ticket and, on Sundays, a muzzle.",
)
ACCESS = (
    "The cars built in 2014 have one low entrance in the middle, marked with a blue stripe. Please tell the "
    "station in Sölmatt a day ahead if you need the ramp, so that one of these cars is put on your train. "
    "The stations of Brünn and Val-Fée have steps.",
)
STEPS_INTRO = "The open wagon is loaded by the passengers themselves. Please allow ten minutes, and keep to this order:"
STEPS = (
    "Buy the ticket for the bicycle and tie its green tag to the handlebar.",
    "Take off bags, pumps and children's seats, and keep them with you.",
    "Wait behind the yellow line until the conductor has lowered the side of the wagon.",
    "Lift the bicycle in, with its front wheel towards the mountain.",
    "Close the strap over the rear wheel and pull it once, hard.",
    "Tell the conductor at which station you will get off.",
)
TIMES = (
    "Trains run every day from 1 May to 31 October, and in winter on Saturdays and Sundays. The train at 10:40 "
    "does not stop at Brünn. In thick fog the last train up may be cancelled; the last train down always runs."
)
CONNECTIONS = (
    "The post bus to Zürnau leaves from the front of the station in Sölmatt at five minutes past every hour and "
    "waits for a late train. Cars can be left behind the goods shed for 7 francs a day.",
    "Those who miss the last train down can stay at the inn, or ask for one of the eight seats in the service train at "
    "19:00.",
)
MAP = (
    "The line is 10.8 kilometres long. From Sölmatt it first follows the edge of the meadows, turns into the side "
    "valley at Brünn, and reaches the gorge behind Val-Fée. The loop before Käsern was blasted out of the rock in a "
    "single winter by miners from three countries."
)
SUMMIT = (
    "The terrace of the inn, ten steps from the platform, looks across to the Piz Sôr. The inn has forty beds; the "
    "bell at its door is rung a quarter of an hour before the last train leaves."
)
