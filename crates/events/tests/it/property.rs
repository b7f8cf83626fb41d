//! Random grants and changes: a client that reads only when it is told, and only from the tokens it is given, ends up
//! with exactly its slice; and whatever it is told of is in its slice. A stream that is emptied now and then is not
//! announced: the token of the client's last read says so, and it starts again.

use std::collections::{BTreeMap, BTreeSet};

use pdpp_access::{ClientPrincipal, Clock as _};
use pdpp_store::{AdmittedRecord, Catalogues as _, EventService as _, EventWish, Operation};
use pdpp_testkit::SeededEntropy;
use pdpp_testkit::sample::SampleRecord;
use pdpp_wire::{ConnectionId, RecordKey, SubscriptionId};
use serde_json::{Map, Value, json};

use crate::receiver::{Act, Receiver};
use crate::world::{Changes, World, chat};

const SEEDS: u64 = 6;
const ROUNDS: usize = 40;
const CLIENTS: usize = 6;
const KEYS: [&str; 6] = ["x_0", "x_1", "x_2", "x_3", "x_4", "x_5"];
const FIELDS: [&str; 4] = ["author", "text", "stars", "channel_id"];

struct Dice(SeededEntropy);

impl Dice {
    fn roll(&self, below: usize) -> usize {
        usize::try_from(self.0.next_u64() % u64::try_from(below).unwrap()).unwrap()
    }

    fn chance(&self, percent: usize) -> bool {
        self.roll(100) < percent
    }
}

type Place = (ConnectionId, String);
type Truth = BTreeMap<Place, Map<String, Value>>;

/// One subscribed client, what it may see, and what it believes.
struct Reader {
    client: ClientPrincipal,
    id: SubscriptionId,
    connections: Vec<ConnectionId>,
    fields: Vec<String>,
    keys: Option<BTreeSet<String>>,
    since: Option<&'static str>,
    mirror: Truth,
    /// The token of its last read of each connection.
    tokens: BTreeMap<ConnectionId, String>,
}

impl Reader {
    /// Its slice of the truth, restricted to the records that the test moves.
    fn slice(&self, truth: &Truth) -> Truth {
        let visible = |(place, data): &(&Place, &Map<String, Value>)| {
            let (connection, key) = place;
            self.connections.contains(connection)
                && self.keys.as_ref().is_none_or(|keys| keys.contains(key))
                && self.since.is_none_or(|since| data["sent_at"].as_str().unwrap() >= since)
        };
        let project = |data: &Map<String, Value>| {
            data.iter()
                .filter(|(name, _)| self.fields.contains(name))
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect()
        };
        truth.iter().filter(visible).map(|(place, data)| (place.clone(), project(data))).collect()
    }
}

impl Reader {
    /// Takes over what it was shown.
    fn believe(&mut self, connection: &ConnectionId, changes: Changes) {
        for (key, now) in changes.shown.into_iter().filter(|(key, _)| KEYS.contains(&key.as_str())) {
            let place = (connection.clone(), key);
            match now {
                Some(now) => drop(self.mirror.insert(place, now.as_object().unwrap().clone())),
                None => drop(self.mirror.remove(&place)),
            }
        }
        self.tokens.insert(connection.clone(), changes.next);
    }

    /// Forgets what it knew of a connection and reads it from the beginning.
    async fn start_again(&mut self, world: &World, connection: &ConnectionId) {
        self.mirror.retain(|(own, _), _| own != connection);
        let data = json!({"stream": "messages", "connection_id": connection, "changes_since": "beginning"});
        let changes = world.changes(&self.client, &data).await.expect("the beginning is always there");
        self.believe(connection, changes);
    }
}

#[tokio::test]
async fn whoever_reads_only_when_told_ends_up_with_exactly_its_slice() {
    for seed in 1..=SEEDS {
        run(Dice(SeededEntropy::new(seed))).await;
    }
}

async fn run(dice: Dice) {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    world.allow(&receiver).await;
    let mut readers = Vec::new();
    for n in 0..CLIENTS {
        readers.push(reader(&world, &dice, n, &receiver).await);
    }
    let mut tried = BTreeSet::new();
    drain(&mut world, &receiver, &mut readers, &mut tried).await;
    let mut truth = Truth::new();
    let mut told = 0;
    for _ in 0..ROUNDS {
        for _ in 0..=dice.roll(5) {
            if dice.chance(4) {
                empty(&world, &dice, &mut truth, &mut readers).await;
            }
            change(&world, &dice, &mut truth).await;
            if dice.chance(30) {
                world.worker.follow().await.unwrap();
            }
        }
        match dice.roll(4) {
            0 => continue,
            1 => receiver.then([Act::Answer("500 Oh", "")]),
            2 => receiver.then([Act::Drop]),
            _ => {}
        }
        world.work().await;
        told += believe(&world, &receiver, &mut readers, &mut tried).await;
        world.clock.advance_seconds(50);
        if dice.chance(50) {
            told += drain(&mut world, &receiver, &mut readers, &mut tried).await;
            check(&readers, &truth);
        }
    }
    told += drain(&mut world, &receiver, &mut readers, &mut tried).await;
    check(&readers, &truth);
    assert!(told > 50, "the test tells something: {told}");
}

fn check(readers: &[Reader], truth: &Truth) {
    for reader in readers {
        assert_eq!(reader.mirror, reader.slice(truth), "{} with {:?}", reader.id, reader.fields);
    }
}

/// A client with a random grant over the messages.
async fn reader(world: &World, dice: &Dice, n: usize, receiver: &Receiver) -> Reader {
    let all = [world.loaded.home.clone(), world.loaded.work.clone()];
    let connections = match dice.roll(3) {
        0 => vec![all[0].clone()],
        1 => vec![all[1].clone()],
        _ => all.to_vec(),
    };
    let mut fields = vec!["id".to_owned(), "sent_at".to_owned()];
    fields.extend(FIELDS.iter().filter(|_| dice.chance(50)).map(|field| (*field).to_owned()));
    let keys = dice.chance(40).then(|| -> BTreeSet<String> {
        KEYS.iter().filter(|_| dice.chance(50)).chain([&KEYS[0]]).map(|key| (*key).to_owned()).collect()
    });
    let since = dice.chance(40).then_some("2026-02-15");
    let catalogue = world.store.catalogue(&world.loaded.subject_id).await.unwrap();
    let names: Vec<&str> = fields.iter().map(String::as_str).collect();
    let mut grant = pdpp_testkit::grant(&catalogue.sources[0])
        .id(&format!("grt_{n}"))
        .stream("messages", &names)
        .connections(&connections.iter().collect::<Vec<_>>());
    if let Some(keys) = &keys {
        grant = grant.resources(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    }
    if let Some(since) = since {
        grant = grant.since(since);
    }
    let client = world.admit(&[grant.build()]).await;
    let wish = EventWish { callback_url: receiver.url(), ..EventWish::default() };
    let (made, _) = world.desk.create(&client, wish).await.unwrap();
    Reader {
        client,
        id: made.subscription_id,
        connections,
        fields,
        keys,
        since,
        mirror: Truth::new(),
        tokens: BTreeMap::new(),
    }
}

/// Adds, changes or deletes a random record. Its time never moves: a record that leaves a slice is not told of.
async fn change(world: &World, dice: &Dice, truth: &mut Truth) {
    let connection = [&world.loaded.home, &world.loaded.work][dice.roll(2)].clone();
    let number = dice.roll(KEYS.len());
    let key = KEYS[number];
    let place = (connection.clone(), key.to_owned());
    if dice.chance(20) {
        if truth.remove(&place).is_some() {
            let deletion = AdmittedRecord {
                key: RecordKey::parse(key).unwrap(),
                emitted_at: world.clock.now(),
                operation: Operation::Delete,
            };
            world.apply(&connection, "messages", deletion).await;
        }
        return;
    }
    let sent_at = if number.is_multiple_of(2) { "2026-02-10T00:00:00Z" } else { "2026-02-20T00:00:00Z" };
    let mut data = truth.get(&place).cloned().unwrap_or_else(|| {
        let fresh = json!({"id": key, "channel_id": "c_0", "author": "a_0", "text": "t_0", "stars": 0,
            "sent_at": sent_at});
        fresh.as_object().unwrap().clone()
    });
    let field = FIELDS[dice.roll(FIELDS.len())];
    let value = if field == "stars" { json!(dice.roll(3)) } else { json!(format!("v_{}", dice.roll(3))) };
    data.insert(field.to_owned(), value);
    truth.insert(place, data.clone());
    let record = SampleRecord::new("messages", data.into(), "2026-02-25T00:00:00Z");
    world.apply(&connection, "messages", record.admit(&chat())).await;
}

/// Each reader reads what it was told of, with the event's own token. An event it answered badly it has not acted on:
/// one that had read already would have to go on with the token of that read. Says how many events there were.
async fn believe(
    world: &World,
    receiver: &Receiver,
    readers: &mut [Reader],
    tried: &mut BTreeSet<String>,
) -> usize {
    let mut count = 0;
    for taken in receiver.take().iter().filter(|taken| taken.kind() == "pdpp.records.changed") {
        let is_first_try = tried.insert(taken.header("webhook-id").to_owned());
        if !taken.is_answered {
            continue;
        }
        let data = &taken.event["data"];
        let reader = readers.iter_mut().find(|reader| data["subscription_id"] == json!(reader.id)).unwrap();
        let connection: ConnectionId = data["connection_id"].as_str().unwrap().parse().unwrap();
        count += 1;
        match world.changes(&reader.client, data).await {
            Some(changes) => {
                // What is said again may have been undone since it was first said.
                assert!(!changes.shown.is_empty() || !is_first_try, "an event shows something: {data}");
                reader.believe(&connection, changes);
            }
            // Its words were settled before the stream was emptied.
            None => reader.start_again(world, &connection).await,
        }
    }
    count
}

/// Drops all messages of a connection. Nobody is told; whoever has read before finds out with the token of that read.
async fn empty(world: &World, dice: &Dice, truth: &mut Truth, readers: &mut [Reader]) {
    let connection = [&world.loaded.home, &world.loaded.work][dice.roll(2)].clone();
    world.empty(&connection, "messages").await;
    truth.retain(|(own, _), _| *own != connection);
    for reader in readers.iter_mut().filter(|reader| reader.connections.contains(&connection)) {
        let Some(token) = reader.tokens.get(&connection) else {
            assert!(reader.mirror.keys().all(|(own, _)| *own != connection), "it has read nothing yet");
            continue;
        };
        let data = json!({"stream": "messages", "connection_id": connection, "changes_since": token});
        assert!(world.changes(&reader.client, &data).await.is_none(), "the token says so");
        reader.start_again(world, &connection).await;
    }
}

/// Works until nothing is left to send.
async fn drain(
    world: &mut World,
    receiver: &Receiver,
    readers: &mut [Reader],
    tried: &mut BTreeSet<String>,
) -> usize {
    let mut count = 0;
    for _ in 0..8 {
        world.work().await;
        count += believe(world, receiver, readers, tried).await;
        // Past the first two waits, in case an attempt failed.
        world.clock.advance_seconds(200);
    }
    count
}
