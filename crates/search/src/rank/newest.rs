//! The newest records that have most of the words.
//!
//! Words are counted by record, because what belongs together is often said in two fields. A record's documents lie
//! next to each other, so the lists of all words are gone through together, a stretch of documents at a time: what is
//! kept at once does not grow with the index.

use std::cmp::Reverse;
use std::ops::Range;

use tantivy::DocId;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;

use super::View;
use super::candidates::LIMIT;
use super::groups::{Group, Matches};
use super::top::{PlanTies, Top, tie};
use crate::SearchError;
use crate::segments::DocAt;

/// Documents whose words are kept at once.
const STRETCH: DocId = 4_096;

/// The newest of the records that have two thirds of the words, or as many as any has.
pub(super) struct Newest<'a> {
    view: &'a View<'a>,
    groups: Vec<&'a Group>,
    /// Whether what matches by the name of its author alone is a hit, too.
    only_names: bool,
    /// How many words are enough.
    enough: u32,
    /// How many the best have, up to enough.
    most: u32,
    top: Top<PlanTies<'a>>,
    kept: usize,
    leaves_out: bool,
}

/// A record, as far as it was gone through.
struct Record {
    number: u64,
    /// One of its documents that have a word.
    at: DocAt,
    /// The groups it has, a bit each.
    groups: u64,
    /// Whether it has one elsewhere than in an author's name.
    is_told: bool,
}

impl<'a> Newest<'a> {
    pub(super) fn new(view: &'a View<'_>, groups: &'a [Group]) -> Self {
        let groups: Vec<_> = groups.iter().filter(|group| group.scores()).collect();
        let enough = u32::try_from((groups.len() * 2).div_ceil(3)).unwrap_or(u32::MAX);
        Self {
            view,
            only_names: groups.iter().all(|group| group.is_name),
            groups,
            enough,
            most: 0,
            top: Top::new(LIMIT, PlanTies(view)),
            kept: 0,
            leaves_out: false,
        }
    }

    /// Goes through a range of a segment.
    pub(super) fn look(
        &mut self,
        number: usize,
        range: &Range<DocId>,
        admits: impl Fn(DocAt) -> bool,
    ) -> Result<(), SearchError> {
        let segment = &self.view.segments.all()[number];
        let mut lists = self.lists(number, range)?;
        let (mut has, mut open): (Vec<u64>, Option<Record>) = (Vec::new(), None);
        while let Some(start) = lists.iter().filter_map(|(_, list)| list.next()).min()
            && start < range.end
        {
            let end = start.saturating_add(STRETCH).min(range.end);
            has.clear();
            has.resize((end - start) as usize, 0);
            for (bit, list) in &mut lists {
                list.take_before(end, |doc| has[(doc - start) as usize] |= *bit);
            }
            let some = (start..end).zip(&has).filter(|(_, groups)| **groups != 0);
            for (doc, groups) in some.filter(|(doc, _)| segment.is_alive(*doc)) {
                let record = segment.record(doc);
                if let Some(done) = open.take_if(|open| open.number != record) {
                    self.offer(&done, &admits);
                }
                let at = DocAt { segment: number, doc };
                let open = open.get_or_insert(Record { number: record, at, groups: 0, is_told: false });
                open.groups |= groups;
                if !open.is_told && self.is_told(at) {
                    (open.at, open.is_told) = (at, true);
                }
            }
        }
        if let Some(done) = open {
            self.offer(&done, &admits);
        }
        Ok(())
    }

    /// The newest, newest first, and whether no record with a word was left out.
    pub(super) fn docs(self) -> (Vec<DocAt>, bool) {
        let is_all = !self.leaves_out && self.kept <= LIMIT;
        let view = self.view;
        let found = self.top.docs().0.into_iter();
        let mut found: Vec<_> =
            found.filter_map(|(_, at)| Some((Reverse(tie(view, at, view.part(at)?)), at))).collect();
        found.sort_unstable();
        (found.into_iter().map(|(_, at)| at).collect(), is_all)
    }

    /// The lists of every group in a segment, each with the group's bit.
    fn lists(&self, number: usize, range: &Range<DocId>) -> Result<Vec<(u64, List<'a>)>, SearchError> {
        let mut lists = Vec::new();
        for (place, group) in self.groups.iter().enumerate().take(u64::BITS as usize) {
            match &group.matches {
                Matches::Docs(docs) => lists.push((1 << place, List::Docs(&docs[number]))),
                Matches::Terms(terms) => {
                    for term in terms {
                        let blocks = term.blocks(self.view, number, IndexRecordOption::Basic)?;
                        lists.extend(blocks.map(|blocks| (1 << place, List::from(blocks, range.start))));
                    }
                }
            }
        }
        Ok(lists)
    }

    /// Whether a document of the plan is more than the name of an author, or that is enough.
    fn is_told(&self, at: DocAt) -> bool {
        let fields = &self.view.scopes.fields;
        self.only_names || self.view.field(at).is_some_and(|field| !fields[field].is_actor)
    }

    fn offer(&mut self, record: &Record, admits: &impl Fn(DocAt) -> bool) {
        let count = record.groups.count_ones().min(self.enough);
        // What is left out has to be known once.
        if !record.is_told || (count < self.most && self.leaves_out) || !admits(record.at) {
            return;
        }
        if count < self.most {
            self.leaves_out = true;
            return;
        }
        if count > self.most {
            self.leaves_out |= self.kept > 0;
            (self.most, self.kept) = (count, 0);
            self.top = Top::new(LIMIT, PlanTies(self.view));
        }
        self.kept += 1;
        self.top.offer(1.0, record.at);
    }
}

/// The documents of one word or phrase in a segment, in order.
enum List<'a> {
    Term(Box<BlockSegmentPostings>, usize),
    Docs(&'a [(DocId, u32)]),
}

impl List<'_> {
    fn from(mut blocks: BlockSegmentPostings, start: DocId) -> Self {
        let at = blocks.seek(start);
        let mut list = Self::Term(Box::new(blocks), at);
        list.take_before(start, |_| {});
        list
    }

    fn next(&self) -> Option<DocId> {
        match self {
            Self::Term(blocks, at) => blocks.docs().get(*at).copied(),
            Self::Docs(docs) => docs.first().map(|(doc, _)| *doc),
        }
    }

    fn take_before(&mut self, end: DocId, mut visit: impl FnMut(DocId)) {
        match self {
            Self::Docs(docs) => {
                let (here, rest) = docs.split_at(docs.partition_point(|(doc, _)| *doc < end));
                here.iter().map(|(doc, _)| *doc).for_each(&mut visit);
                *docs = rest;
            }
            Self::Term(blocks, at) => loop {
                let docs = &blocks.docs()[*at..];
                let here = docs.partition_point(|doc| *doc < end);
                docs[..here].iter().copied().for_each(&mut visit);
                *at += here;
                // Behind the last block stands an empty one.
                if here < docs.len() || blocks.docs().is_empty() {
                    return;
                }
                blocks.advance();
                *at = 0;
            },
        }
    }
}
