//! Components: what stands between `BEGIN:` and `END:`, one at a time.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use super::logical::{Logical, LogicalLines};
use super::{MOST_BYTES, Property};

/// Deepest nesting of components.
const DEEPEST: usize = 8;

/// A component with what is nested in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Component {
    /// In capitals.
    pub(crate) name: String,
    pub(crate) properties: Vec<Property>,
    pub(crate) children: Vec<Component>,
    /// The line it begins at.
    pub(crate) line: u64,
}

impl Component {
    /// The first property of a name.
    pub(crate) fn find(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Every property of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Property> {
        self.properties.iter().filter(move |property| property.name == name)
    }
}

/// What was found, in the file's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A container begins.
    Opened,
    /// A property of the open container.
    Aside(Property),
    /// A whole component.
    Component(Component),
    /// Something was left out at this line.
    Fault(u64, Fault),
}

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A line is no `NAME:value`.
    NoProperty,
    /// A property longer than the bound, or beyond the bound of its component.
    TooLong,
    /// Components nested too deep.
    TooDeep,
    /// A component that never ends.
    Unclosed,
}

impl Fault {
    /// What to tell the owner.
    pub(crate) fn message(self) -> String {
        match self {
            Self::NoProperty => "The line is no property; it was left out.".to_owned(),
            Self::TooLong => {
                format!("More than {} MiB in one entry; the property was left out.", MOST_BYTES >> 20)
            }
            Self::TooDeep => {
                format!("Entries are nested deeper than {DEEPEST}; the inner ones were left out.")
            }
            Self::Unclosed => "The entry has no end; it was left out.".to_owned(),
        }
    }
}

/// Gives the components of a file. Those named like the container are walked into, not gathered.
#[derive(Debug)]
pub(crate) struct Components<R> {
    lines: LogicalLines<R>,
    container: Option<&'static str>,
    /// Components under way, the outermost first.
    open: Vec<Component>,
    bytes: usize,
    told_too_long: bool,
    /// How many components too deep to keep are open.
    skipping: usize,
    ready: VecDeque<Found>,
}

impl<R: BufRead> Components<R> {
    pub(crate) fn new(reader: R, container: Option<&'static str>) -> Self {
        Self {
            lines: LogicalLines::new(reader),
            container,
            open: Vec::new(),
            bytes: 0,
            told_too_long: false,
            skipping: 0,
            ready: VecDeque::new(),
        }
    }

    /// The next finding; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Found>> {
        loop {
            if let Some(found) = self.ready.pop_front() {
                return Ok(Some(found));
            }
            let Some(line) = self.lines.next()? else {
                self.abandon();
                return Ok(self.ready.pop_front());
            };
            self.take(&line);
        }
    }

    fn take(&mut self, Logical { number, bytes }: &Logical) {
        let Some(bytes) = bytes else {
            self.too_long(*number);
            return;
        };
        let Some(property) = Property::parse(*number, bytes) else {
            self.ready.push_back(Found::Fault(*number, Fault::NoProperty));
            return;
        };
        match property.name.as_str() {
            "BEGIN" => self.begin(*number, property.value.trim().to_ascii_uppercase()),
            "END" => self.end(&property.value.trim().to_ascii_uppercase()),
            _ if self.skipping > 0 => {}
            _ => self.property(property, bytes.len()),
        }
    }

    fn property(&mut self, property: Property, bytes: usize) {
        let Some(inner) = self.open.last_mut() else {
            if self.container.is_some() {
                self.ready.push_back(Found::Aside(property));
            }
            return;
        };
        self.bytes += bytes;
        if self.bytes > MOST_BYTES {
            self.bytes -= bytes;
            return self.too_long(property.line);
        }
        inner.properties.push(property);
    }

    fn too_long(&mut self, line: u64) {
        // A component that is full says so once, not once for each line.
        if !self.told_too_long || self.open.is_empty() {
            self.ready.push_back(Found::Fault(line, Fault::TooLong));
        }
        self.told_too_long = !self.open.is_empty();
    }

    fn begin(&mut self, line: u64, name: String) {
        if self.container == Some(name.as_str()) {
            self.abandon();
            self.ready.push_back(Found::Opened);
            return;
        }
        // An entry inside one of its own kind means that the first has no end. Only an old contact's agent is one.
        let agent = |open: &Component| open.properties.last().is_some_and(|last| last.name == "AGENT");
        if self.open.iter().any(|open| open.name == name) && !self.open.last().is_some_and(agent) {
            self.abandon();
        }
        if self.skipping > 0 || self.open.len() >= DEEPEST {
            if self.skipping == 0 {
                self.ready.push_back(Found::Fault(line, Fault::TooDeep));
            }
            self.skipping += 1;
            return;
        }
        if self.open.is_empty() {
            (self.bytes, self.told_too_long) = (0, false);
        }
        self.open.push(Component { name, line, ..Component::default() });
    }

    fn end(&mut self, name: &str) {
        if self.skipping > 0 {
            self.skipping -= 1;
            return;
        }
        if self.container == Some(name) {
            return self.abandon();
        }
        // An end that nobody began is passed over; one further out closes what is inside it.
        let Some(place) = self.open.iter().rposition(|open| open.name == name) else { return };
        while self.open.len() > place {
            let Some(done) = self.open.pop() else { return };
            match self.open.last_mut() {
                Some(outer) => outer.children.push(done),
                None => self.ready.push_back(Found::Component(done)),
            }
        }
    }

    /// Gives up what is open: it never ended.
    fn abandon(&mut self) {
        self.skipping = 0;
        if let Some(outer) = self.open.first() {
            self.ready.push_back(Found::Fault(outer.line, Fault::Unclosed));
        }
        self.open.clear();
    }
}
