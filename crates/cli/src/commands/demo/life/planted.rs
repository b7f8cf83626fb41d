//! What can be found on purpose: the facts that the tour, the guide and the tests ask for.

/// A letter that is always there.
pub(super) struct Planted {
    pub(super) id: &'static str,
    pub(super) answers: Option<&'static str>,
    pub(super) at: &'static str,
    /// `me` is the owner; other letters go to the owner.
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) subject: &'static str,
    pub(super) text: &'static str,
    /// An attached page: its name and its lines.
    pub(super) paper: Option<(&'static str, &'static [&'static str])>,
}

/// Chat, time, author, text.
pub(super) const MESSAGES: &[(&str, &str, &str, &str)] = &[
    (
        "jonas",
        "2026-02-17T17:41:08",
        "Jonas",
        "I left the spare key with Mrs Okafor on the second floor, she is in after six",
    ),
    ("jonas", "2026-02-17T17:43:20", "Mira", "Good. Then the plumber can come while we are away"),
    (
        "jonas",
        "2026-03-02T08:12:44",
        "Mira",
        "Did Brandt say anything about the deposit for the old flat yet?",
    ),
    (
        "jonas",
        "2026-03-02T08:15:02",
        "Jonas",
        "It is in the long letter they sent, somewhere after the paint. I fell asleep before I got there",
    ),
    (
        "family",
        "2026-01-24T19:03:51",
        "Ingrid",
        "For Sunday: Jonas cannot have walnuts, last time his lip was swollen for two days",
    ),
    ("family", "2026-01-24T19:05:10", "Theo", "Then no nut cake. I bring the one with plums"),
    (
        "priya",
        "2026-05-09T21:30:17",
        "Priya",
        "The little hotel in Ghent was called De Zwarte Zwaan, ask for the room over the bakery",
    ),
    (
        "boats",
        "2026-04-11T06:02:33",
        "Elin",
        "New code for the boat hall is on the board inside the club room, please do not write it here",
    ),
    (
        "house",
        "2026-06-18T20:11:09",
        "Lund",
        "The man for the gas meter comes on 25 June between 8 and 10, somebody has to be home",
    ),
    (
        "tomasz",
        "2026-08-30T13:22:41",
        "Tomasz",
        "The recording is on side B of the green cassette, about four minutes in",
    ),
    (
        "family",
        "2026-07-12T10:20:05",
        "Ingrid",
        "La abuela dice que la llave del trastero está detrás del reloj de la cocina",
    ),
];

/// The letters.
pub(super) const LETTERS: &[Planted] = &[
    Planted {
        id: "handover-2026@brandt-property.example",
        answers: None,
        at: "2026-02-20T10:05:00",
        from: "Brandt Property <office@brandt-property.example>",
        to: "",
        subject: "Mill Lane 8: protocol of the handover and final account",
        text: include_str!("deposit.txt"),
        paper: Some((
            "handover-protocol.pdf",
            &[
                "Brandt Property, handover protocol",
                "Mill Lane 8, third floor left, handed over on 31 January 2026",
                "Meter readings: electricity 48,211 kWh, gas 6,904 m3, water 312 m3",
                "Keys returned: three of three, cellar key one of two",
                "Remarks: scratch in the parquet by the balcony door, 40 cm",
            ],
        )),
    },
    Planted {
        id: "boiler-318@kessler-heating.example",
        answers: None,
        at: "2026-03-19T15:40:00",
        from: "Kessler Heating <service@kessler-heating.example>",
        to: "",
        subject: "Invoice 2026-0318 for your boiler",
        text: "Dear Ms Castell,\n\nour technician replaced the expansion vessel and the pressure gauge of your Vento 24 boiler on 17 March. The pressure should now stay between 1.2 and 1.8 bar; if it falls below 1.0 again within six months, ring us and we come without charge.\n\nThe invoice over EUR 318.40 is attached. Please pay within 14 days.\n\nKessler Heating, service number 0800 446 12",
        paper: Some((
            "invoice-2026-0318.pdf",
            &[
                "Kessler Heating, invoice 2026-0318, 19 March 2026",
                "Expansion vessel 18 l: EUR 142.00",
                "Pressure gauge: EUR 29.40",
                "Work, 1.5 hours: EUR 147.00",
                "Total: EUR 318.40, payable within 14 days",
            ],
        )),
    },
    Planted {
        id: "booking-kx7q2m@northrail.example",
        answers: None,
        at: "2026-04-28T09:12:00",
        from: "Northrail <tickets@northrail.example>",
        to: "",
        subject: "Your tickets to Ghent, booking KX7Q2M",
        text: "Dear Mira Castell,\n\nhere are your tickets.\n\nBooking KX7Q2M, two adults\nOut: Thursday 7 May, Lindhaven 7:52 to Ghent 13:40, coach 12, seats 61 and 62\nBack: Sunday 10 May, Ghent 15:20 to Lindhaven 21:08\n\nYou may change the journey once without a fee until the evening before.\n\nNorthrail",
        paper: Some((
            "tickets-KX7Q2M.pdf",
            &[
                "Northrail ticket, booking KX7Q2M",
                "Lindhaven to Ghent, 7 May 2026, coach 12, seats 61 and 62",
                "Ghent to Lindhaven, 10 May 2026, coach 4, seats 15 and 16",
            ],
        )),
    },
    Planted {
        id: "re-handover-2026@castell.example",
        answers: Some("handover-2026@brandt-property.example"),
        at: "2026-03-03T19:22:00",
        from: "me",
        to: "Brandt Property <office@brandt-property.example>",
        subject: "Re: Mill Lane 8: protocol of the handover and final account",
        text: "Dear Mr Brandt,\n\nthank you for the letter. I agree to the 65 euros for the parquet. Please use the account ending in 902 as before.\n\nThe second cellar key turned up in a coat. I put it into your letter box this evening.\n\nWith kind regards\nMira Castell",
        paper: None,
    },
];

/// Path, time, text.
pub(super) const NOTES: &[(&str, &str, &str)] = &[
    (
        "Private/Passport and numbers",
        "2026-01-04 21:15",
        "# Passport and numbers\n\nPassport C7F 440 19X, valid until 3 November 2029. Jonas: renew before August 2027.\n\nBlood group 0 negative. Vaccination book in the blue folder.\n\n#private",
    ),
    (
        "Recipes/Grandma's cardamom buns",
        "2026-02-08 16:40",
        "# Grandma's cardamom buns\n\nShe never measured, I did, once, behind her back.\n\n- 500 g flour, 75 g butter, 2.5 dl milk, 90 g sugar, 25 g yeast\n- two heaped teaspoons of cardamom, crushed and not ground\n\nFirst rise one hour. Roll, fold, cut. **Second rise forty minutes**, this is what everybody forgets. Nine minutes at 225 degrees.\n\n#recipe #baking",
    ),
    (
        "Home/The cabin in Varberg",
        "2026-06-20 10:05",
        "# The cabin in Varberg\n\nWater: the main valve is under the second step, turn it left. Wood is paid until September. The man with the boat is called Alvar, he answers only before nine.\n\nWifi: the network is `kattegatt`, the password is on the back of the barometer.\n\n#home #travel",
    ),
];

/// Title, place, start, minutes, description.
pub(super) const EVENTS: &[(&str, &str, &str, i64, &str)] = &[
    (
        "Train to Ghent",
        "Lindhaven station, platform 3",
        "2026-05-07T07:52:00",
        348,
        "Booking KX7Q2M, coach 12, seats 61 and 62",
    ),
    (
        "Grandma turns 90",
        "Castell, Harbour Road 2",
        "2026-09-12T14:00:00",
        240,
        "Theo drives. Bring the buns, the jigsaw is wrapped already.",
    ),
    (
        "Handover Mill Lane 8",
        "Mill Lane 8",
        "2026-01-31T11:00:00",
        60,
        "Meter readings! Mr Brandt brings the protocol.",
    ),
];

/// An order: time, number, items with quantity and cents.
pub(super) const ORDER: (&str, &str, &[(&str, i64, i64)]) = (
    "2026-05-30T20:18:00",
    "N-41007",
    &[("Tent pole, aluminium, 4.85 m", 1, 3_890), ("Tent pegs, ten", 2, 1_150)],
);
