//! One world, its two stores and the model, asked the same questions while things happen.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::runtime::Runtime;

use crate::archive::{Archive, Row};
use crate::compare::{Reply, same_as_model, same_as_twin};
use crate::model::{Answer, Model, NEXT_CHANGES, NEXT_CURSOR, Token, placeholder};
use crate::moment::micros;
use crate::question::{Arg, OWNER, Question};
use crate::redeclare::{elsewhere, widen};
use crate::requests::{Asker, Issued};
use crate::rng::{Rng, mix};
use crate::server::{NOW, Server};
use crate::stores::Stores;
use crate::tally::Tally;
use crate::twin::{Step, next_step, noise, twin_steps};
use crate::world::{Place, World, canonical};

/// How much happens before each round of questions.
const PHASES: [usize; 3] = [40, 12, 12];

pub(crate) struct Case {
    rng: Rng,
    world: World,
    ours: Server,
    twin: Server,
    archive: Archive,
    twin_archive: Archive,
    revoked: BTreeSet<String>,
    now: i64,
    /// What happened beside writes, for the tally.
    happened: Vec<&'static str>,
    tokens: Vec<Token>,
    /// The tokens as each store spells them.
    spelled: Vec<[String; 2]>,
    issued: Vec<Issued>,
    /// Spoils answers of the first store, to see that it is noticed.
    tamper: Option<fn(&mut Reply)>,
}

impl Case {
    pub(crate) fn new(runtime: &Arc<Runtime>, stores: &Stores, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut world = World::random(&mut rng);
        let ours = Server::new(runtime, stores, &mut world, Place::Both, mix(seed));
        let twin = Server::new(runtime, stores, &mut world, Place::TwinOnly, mix(seed));
        Self {
            rng,
            world,
            ours,
            twin,
            archive: Archive::default(),
            twin_archive: Archive::default(),
            revoked: BTreeSet::new(),
            now: micros(NOW).expect("a time"),
            happened: Vec::new(),
            tokens: Vec::new(),
            spelled: Vec::new(),
            issued: Vec::new(),
            tamper: None,
        }
    }

    /// The same case over a server whose answers are spoiled on their way.
    pub(crate) fn tampered(
        runtime: &Arc<Runtime>,
        stores: &Stores,
        seed: u64,
        tamper: fn(&mut Reply),
    ) -> Self {
        Self { tamper: Some(tamper), ..Self::new(runtime, stores, seed) }
    }

    /// Lets things happen and asks about them; the error says which question went wrong, and how.
    pub(crate) fn run(&mut self, questions: usize, tally: &mut Tally) -> Result<(), String> {
        tally.stores += 2;
        for (phase, steps) in PHASES.into_iter().enumerate() {
            for _ in 0..steps {
                self.happen();
            }
            if phase > 0 && self.rng.chance(6) {
                self.revoke();
            }
            if phase > 0 && self.rng.chance(40) {
                self.wait();
            }
            if phase > 0 && self.rng.chance(40) {
                self.widen();
            }
            for number in 0..questions.div_ceil(PHASES.len()) {
                // Between two questions something may happen that the reader must not notice.
                if self.rng.chance(30) {
                    self.happen_outside();
                }
                if self.rng.chance(15) {
                    self.happen();
                }
                self.ask(tally).map_err(|fault| format!("phase {phase}, question {number}: {fault}"))?;
            }
        }
        self.count_differences(tally);
        Ok(())
    }

    /// How far the two stores are apart.
    fn count_differences(&self, tally: &mut Tally) {
        for name in &self.happened {
            tally.add(name);
        }
        let (ours, twins) = (&self.archive, &self.twin_archive);
        for (archive, other) in [(ours, twins), (twins, ours)] {
            let lonely = |row: &&Row| other.current(row.connection, &row.stream, &row.key).is_none();
            tally.alone += archive.rows.iter().filter(|row| row.data().is_some()).filter(lonely).count();
        }
        for row in &ours.rows {
            let entry = self.world.cover(0, row.connection, &row.stream);
            let (Some(entry), Some(data)) = (entry, row.data()) else { continue };
            let other = twins.current(row.connection, &row.stream, &row.key);
            tally.veiled += usize::from(entry.shows(&row.key, data) && other != Some(data));
        }
    }

    fn happen(&mut self) {
        let step = next_step(&mut self.rng, &self.world, &self.archive);
        record(&self.world, &self.ours, &mut self.archive, &step);
        for step in twin_steps(&mut self.rng, &self.world, &self.twin_archive, &step) {
            record(&self.world, &self.twin, &mut self.twin_archive, &step);
        }
        if self.rng.chance(40) {
            self.happen_outside();
        }
    }

    fn happen_outside(&mut self) {
        if self.rng.chance(4)
            && let Some(manifest) = elsewhere(&mut self.rng, &self.world)
        {
            self.twin.replace(manifest);
            self.happened.push("a declaration replaced outside");
        }
        if let Some(step) = noise(&mut self.rng, &self.world, &self.twin_archive) {
            record(&self.world, &self.twin, &mut self.twin_archive, &step);
        }
    }

    /// Time passes: some grants end, and after days some sources are stale.
    fn wait(&mut self) {
        let seconds = *self.rng.pick(&[3_600, 3 * 3_600, 12 * 86_400]);
        self.now += seconds * 1_000_000;
        self.ours.wait(seconds);
        self.twin.wait(seconds);
    }

    /// A source declares one more field, in both stores.
    fn widen(&mut self) {
        let Some(source) = widen(&mut self.rng, &mut self.world) else { return };
        for server in [&self.ours, &self.twin] {
            server.replace(self.world.sources[source].manifest());
        }
        self.happened.push("a field added to a declaration");
    }

    fn revoke(&mut self) {
        let grants = &self.world.clients[self.rng.below(2)].grants;
        let id = grants[self.rng.below(grants.len())].id.clone();
        if self.revoked.insert(id.clone()) {
            self.ours.revoke(&id);
            self.twin.revoke(&id);
        }
    }

    fn ask(&mut self, tally: &mut Tally) -> Result<(), String> {
        let asker =
            Asker { world: &self.world, archive: &self.archive, tokens: &self.tokens, issued: &self.issued };
        let question = asker.question(&mut self.rng);
        let who =
            if question.who == OWNER { "the owner" } else { self.world.clients[question.who].id.as_str() };
        let spoken = format!("GET {} as {who}", question.uri(placeholder));
        let told = |fault: String| format!("{spoken}: {fault}");
        let mut reply = self.ours.ask(&question, |index| self.spelled[index][0].clone());
        if let Some(tamper) = self.tamper {
            tamper(&mut reply);
        }
        tally.note(&question, &reply);
        let plain = reply.plain(&self.carried(&question, 0));
        let expected = self.model().answer(&question);
        if !question.head {
            same_as_model(&plain, &expected).map_err(|fault| told(format!("not as the model: {fault}")))?;
        }
        let twins =
            (question.who == 0).then(|| self.twin.ask(&question, |index| self.spelled[index][1].clone()));
        if let Some(twins) = &twins {
            tally.requests += 1;
            let twins_plain = twins.plain(&self.carried(&question, 1));
            same_as_twin(&plain, &twins_plain).map_err(|fault| told(format!("not as the twin: {fault}")))?;
        }
        self.keep(&question, &reply, twins.as_ref(), expected).map_err(told)
    }

    fn model(&self) -> Model<'_> {
        Model {
            world: &self.world,
            archive: &self.archive,
            revoked: &self.revoked,
            tokens: &self.tokens,
            now: self.now,
        }
    }

    /// The tokens a question carries, as one store spells them, with what stands for them.
    fn carried(&self, question: &Question, store: usize) -> Vec<(String, String)> {
        let carried = question.query.iter().filter_map(|(_, value)| match value {
            Arg::Token(index) => Some((self.spelled[*index][store].clone(), placeholder(*index))),
            Arg::Text(_) => None,
        });
        carried.collect()
    }

    /// Remembers the tokens an answer gave out, to see later what they fetch.
    fn keep(
        &mut self,
        question: &Question,
        reply: &Reply,
        twins: Option<&Reply>,
        expected: Answer,
    ) -> Result<(), String> {
        let Answer::Json { cursor, changes, .. } = expected else { return Ok(()) };
        for (token, member) in [(cursor, "next_cursor"), (changes, "next_changes_since")] {
            let Some(token) = token else { continue };
            let ours = reply.token(member).ok_or(format!("{member} is missing"))?;
            let theirs = match twins {
                None => ours.clone(),
                Some(twins) => twins.token(member).ok_or(format!("{member} is missing in the twin"))?,
            };
            if ours.len() != theirs.len() {
                return Err(format!(
                    "{member} has {} characters here, {} in the twin",
                    ours.len(),
                    theirs.len()
                ));
            }
            self.issued.push(Issued { index: self.tokens.len(), question: question.clone() });
            self.tokens.push(token);
            self.spelled.push([ours, theirs]);
        }
        Ok(())
    }
}

/// Does a step in a store and its archive, which must agree on what became of it.
fn record(world: &World, server: &Server, archive: &mut Archive, step: &Step) {
    let became = server.apply(world, step);
    match step {
        Step::Write(write) => {
            let append_only = world.stream(write.connection, &write.stream).expect("declared").append_only;
            let key = canonical(&write.key);
            let place = (write.connection, write.stream.as_str(), key.as_str());
            let expected = archive.write(place, append_only, write.data.clone(), write.emitted_at);
            assert_eq!(became, Some(expected), "what became of {write:?}");
        }
        Step::Purge { connection, stream } => archive.purge(*connection, stream),
        Step::Rename { .. } => {}
    }
}

/// Never a real token, so that a comparison that forgot to replace one cannot pass by chance.
const _: () = assert!(NEXT_CURSOR.len() != NEXT_CHANGES.len());
