//! Plans for numbers about many records.

use jiff::tz::TimeZone;

use super::ReadPlan;
use crate::Predicate;

/// What is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// How many records.
    Count,
    /// The sum of a field.
    Sum(String),
    /// Its least value.
    Min(String),
    /// Its greatest value.
    Max(String),
    /// How many different values it has.
    CountDistinct(String),
}

/// Bucket size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week from Monday.
    Week,
    /// A month.
    Month,
    /// A quarter.
    Quarter,
    /// A year.
    Year,
}

/// How counts are split.
#[derive(Clone, Debug)]
pub enum Grouping {
    /// One number.
    None,
    /// By a field's values.
    By(String),
    /// By a field's time, in a zone's wall clock.
    ByTime {
        /// The field.
        field: String,
        /// Bucket size.
        granularity: Granularity,
        /// The zone.
        zone: TimeZone,
        /// The zone as it was named.
        zone_name: String,
    },
}

/// A number about many records.
#[derive(Clone, Debug)]
pub struct AggregatePlan {
    pub(crate) read: ReadPlan,
    pub(crate) filter: Vec<Predicate>,
    pub(crate) metric: Metric,
    pub(crate) grouping: Grouping,
    pub(crate) limit: u32,
}

impl AggregatePlan {
    /// The stream.
    pub fn read(&self) -> &ReadPlan {
        &self.read
    }

    /// All of these hold.
    pub fn filter(&self) -> &[Predicate] {
        &self.filter
    }

    /// What is computed.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// How it is split.
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// Most groups.
    pub fn limit(&self) -> u32 {
        self.limit
    }
}
