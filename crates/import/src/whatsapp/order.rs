//! Whether `3/4/24` is in March or in April: decided from all the dates of a chat.

use jiff::civil::DateTime;

use super::header::Header;

/// What stands first in a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Day,
    Month,
    Year,
}

impl Order {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day-first",
            Self::Month => "month-first",
            Self::Year => "year-first",
        }
    }
}

/// How the order was found, from sure to guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// The year has four digits and stands first.
    Written,
    /// Some number is too large to be a month.
    Numbers,
    /// Messages follow each other in time only in this order.
    Sequence,
    /// From separators and clock; the other order would have been possible.
    Guess,
}

impl Basis {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Numbers => "numbers",
            Self::Sequence => "sequence",
            Self::Guess => "guess",
        }
    }
}

/// Gathers what the dates of a chat say about their order.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    headers: u64,
    year_first: u64,
    day_first: Trial,
    month_first: Trial,
    /// Signs of how Americans write: no zeros in front, a short year, a clock of twelve hours.
    american: u64,
}

/// How well one order explains the dates.
#[derive(Debug, Default)]
struct Trial {
    possible: u64,
    backwards: u64,
    before: Option<DateTime>,
}

impl Trial {
    fn try_date(&mut self, at: Option<DateTime>) {
        let Some(at) = at else { return };
        self.possible += 1;
        if self.before.is_some_and(|before| at < before) {
            self.backwards += 1;
        }
        self.before = Some(at);
    }
}

impl Evidence {
    pub(super) fn add(&mut self, header: &Header<'_>) {
        let written = header.written;
        self.headers += 1;
        if written.year_first {
            self.year_first += 1;
            return;
        }
        self.day_first.try_date(header.at(Order::Day));
        self.month_first.try_date(header.at(Order::Month));
        if written.separator == '/' && written.halves && !written.long_year && !written.padded {
            self.american += 1;
        }
    }

    /// How many lines begin like a message.
    pub(super) fn headers(&self) -> u64 {
        self.headers
    }

    pub(super) fn decide(&self) -> (Order, Basis) {
        let (day, month) = (&self.day_first, &self.month_first);
        let other = self.headers - self.year_first;
        if self.year_first > other {
            return (Order::Year, Basis::Written);
        }
        if day.possible != month.possible {
            let order = if day.possible > month.possible { Order::Day } else { Order::Month };
            return (order, Basis::Numbers);
        }
        if day.backwards != month.backwards {
            let order = if day.backwards < month.backwards { Order::Day } else { Order::Month };
            return (order, Basis::Sequence);
        }
        // Padded dates of the same clock are British, Indian or Australian; one header without a zero says nothing,
        // so all of them have to look American.
        let order = if self.american == other { Order::Month } else { Order::Day };
        (order, Basis::Guess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], order: Order, basis: Basis) {
        let mut evidence = Evidence::default();
        for line in lines {
            evidence.add(&Header::parse(line).unwrap());
        }
        assert_eq!(evidence.decide(), (order, basis), "{lines:?}");
    }

    #[test]
    fn the_order_of_dates_is_decided_from_all_of_them() {
        check(&["1/2/24, 10:00 - A: x", "13/2/24, 10:00 - A: x"], Order::Day, Basis::Numbers);
        check(&["1/2/24, 10:00 - A: x", "1/13/24, 10:00 - A: x"], Order::Month, Basis::Numbers);
        check(&["5/1/24, 10:00 - A: x", "3/2/24, 10:00 - A: x"], Order::Day, Basis::Sequence);
        check(&["1/5/24, 10:00 - A: x", "2/3/24, 10:00 - A: x"], Order::Month, Basis::Sequence);
        check(&["1/2/24, 9:00 PM - A: x"], Order::Month, Basis::Guess);
        check(&["01/02/2024, 9:00 pm - A: x"], Order::Day, Basis::Guess);
        check(&["1.2.24, 10:00 - A: x"], Order::Day, Basis::Guess);
        check(&["2024/02/01 10:00 - A: x"], Order::Year, Basis::Written);
    }
}
