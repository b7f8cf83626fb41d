//! Orders from a shop: a source of our own, with a manifest of its own.

use std::fmt::Write as _;

use jiff::civil::DateTime;
use serde_json::json;

use super::planted;
use super::random::Random;
use super::words::Piece;

/// Declares the stream.
pub(in super::super) const MANIFEST: &str = include_str!("orders.json");
/// How many orders there are, the planted one apart.
const ORDERS: usize = 96;
/// What is sold, and for how many cents.
const GOODS: [(&str, i64); 18] = [
    ("Enamel mug, blue", 1_290),
    ("Wool socks, two pairs", 1_850),
    ("Head torch, 300 lumen", 3_400),
    ("Dry bag, 20 litres", 2_490),
    ("Rain jacket, size M", 11_900),
    ("Gas cartridge, 230 g", 690),
    ("Camping stove", 4_990),
    ("Thermos flask, 1 litre", 2_995),
    ("Climbing chalk", 850),
    ("Rowing gloves", 2_250),
    ("Bike pump with gauge", 3_150),
    ("Compass", 1_990),
    ("Map of the Varberg coast, 1:50,000", 1_480),
    ("Folding table", 6_900),
    ("Sleeping mat", 7_450),
    ("Repair tape, 3 m", 990),
    ("Water bottle, steel", 2_190),
    ("Notebook, waterproof", 1_350),
];

/// One order.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) at: DateTime,
    number: String,
    items: Vec<(String, i64, i64)>,
    status: &'static str,
}

pub(super) fn make(random: &mut Random) -> Vec<Order> {
    let mut orders: Vec<Order> = (0..ORDERS)
        .map(|index| {
            let lines = 1 + random.below(3);
            let items = random.shuffled(&GOODS).into_iter().take(lines).map(|(name, cents)| {
                let quantity = if *cents < 2_000 { random.between(1, 3) } else { 1 };
                ((*name).to_owned(), quantity, *cents)
            });
            let items = items.collect();
            let status = *random.pick(&["delivered", "delivered", "delivered", "delivered", "returned"]);
            Order { at: super::moment(random, 8, 22), number: format!("N-{}", 40_210 + index), items, status }
        })
        .collect();
    let (at, number, items) = planted::ORDER;
    let items = items.iter().map(|(name, quantity, cents)| ((*name).to_owned(), *quantity, *cents)).collect();
    orders.push(Order { at: super::at(at), number: number.to_owned(), items, status: "delivered" });
    orders.sort_by_key(|order| order.at);
    orders
}

/// The record lines.
pub(super) fn lines(orders: &[Order]) -> String {
    orders.iter().fold(String::new(), |mut lines, order| {
        let ordered_at = format!("{}Z", order.at);
        let items: Vec<_> = order
            .items
            .iter()
            .map(|(name, quantity, cents)| json!({"name": name, "quantity": quantity, "price": price(*cents)}))
            .collect();
        let names: Vec<&str> = order.items.iter().map(|(name, ..)| name.as_str()).collect();
        let line = json!({
            "stream": "orders", "key": order.number, "emitted_at": ordered_at,
            "data": {
                "id": order.number, "shop": "Nordin Outdoor", "ordered_at": ordered_at, "status": order.status,
                "summary": names.join("; "), "items": items, "item_count": order.items.len(),
                "total": price(order.total()), "currency": "EUR", "card_ending": "4417",
            },
        });
        // Writing to a string does not fail.
        let _ = writeln!(lines, "{line}");
        lines
    })
}

impl Order {
    fn total(&self) -> i64 {
        self.items.iter().map(|(_, quantity, cents)| quantity * cents).sum()
    }

    /// What the shop's mail says about it.
    pub(super) fn describe(&self, piece: &mut Piece<'_>) {
        let lines = self.items.iter().fold(String::new(), |mut lines, (name, quantity, cents)| {
            let _ = writeln!(lines, "{quantity} x {name}: EUR {:.2}", price(quantity * cents));
            lines
        });
        piece.put("order_number", self.number.clone());
        piece.put("order_lines", lines.trim_end());
        piece.put("order_total", format!("{:.2}", price(self.total())));
    }
}

#[expect(clippy::cast_precision_loss, reason = "prices are far below 2^52 cents")]
fn price(cents: i64) -> f64 {
    cents as f64 / 100.0
}
