//! No sequence of code, token, refresh and revoke calls, in any order or at once, reads outside a live grant.
//!
//! The sequential test compares every token with a small model after every step, in both directions. The concurrent
//! one sends calls at the same time, where the model cannot know who comes first, and checks what must hold whoever
//! does. A failure prints its seed.

use std::collections::BTreeMap;

use pdpp_testkit::SeededEntropy;
use serde_json::json;

use crate::desk::Desk;
use crate::flow::notes;

const SEEDS: u64 = 10;
const STEPS: usize = 60;
const GRACE: i64 = 30;
const ACCESS: i64 = 600;

#[derive(Debug, Default)]
struct Family {
    grant: String,
    /// Refresh tokens by generation.
    line: Vec<String>,
    rotated_at: i64,
    ended: bool,
}

#[derive(Debug)]
struct Access {
    secret: String,
    family: usize,
    ends: i64,
    revoked: bool,
}

#[derive(Debug)]
struct Code {
    secret: String,
    approved_at: i64,
    family: Option<usize>,
}

/// What should be.
#[derive(Debug, Default)]
struct Model {
    now: i64,
    codes: Vec<Code>,
    families: Vec<Family>,
    access: Vec<Access>,
    revoked: BTreeMap<String, bool>,
}

impl Model {
    fn opens(&self, access: &Access) -> bool {
        let family = &self.families[access.family];
        !access.revoked && !family.ended && !self.revoked[&family.grant] && self.now < access.ends
    }

    fn end(&mut self, family: usize) {
        self.families[family].ended = true;
    }
}

struct Run<'d> {
    desk: &'d Desk,
    client: String,
    random: SeededEntropy,
    model: Model,
}

impl Run<'_> {
    fn pick(&self, below: usize) -> usize {
        usize::try_from(self.random.next_u64() % (below.max(1) as u64)).unwrap()
    }

    async fn step(&mut self) -> String {
        match self.pick(10) {
            0 | 1 => self.approve().await,
            2..=4 => self.redeem().await,
            5 | 6 => self.refresh().await,
            7 => self.revoke_token().await,
            8 => self.revoke_grant().await,
            _ => {
                let seconds = [1, 20, 40, 61, 599][self.pick(5)];
                self.desk.clock.advance_seconds(seconds);
                self.model.now += seconds;
                format!("wait {seconds}")
            }
        }
    }

    async fn approve(&mut self) -> String {
        let secret = self.desk.code(&self.client, &notes("continuous")).await;
        self.model.codes.push(Code { secret, approved_at: self.model.now, family: None });
        "approve".to_owned()
    }

    async fn redeem(&mut self) -> String {
        if self.model.codes.is_empty() {
            return "nothing to redeem".to_owned();
        }
        let index = self.pick(self.model.codes.len());
        let right = self.pick(4) > 0;
        let more: &[_] =
            if right { &[] } else { &[("code_verifier", "a-wrong-verifier-that-is-long-enough-0123456789")] };
        let answer = self.desk.redeem(&self.client, &self.model.codes[index].secret, more).await;
        let Code { approved_at, family, .. } = self.model.codes[index];
        let fresh = right && family.is_none() && self.model.now < approved_at + 60;
        assert_eq!(answer.status == 200, fresh, "code {index}: {}", answer.verdict());
        if fresh {
            let grant = answer.text("grant_id");
            self.model.revoked.insert(grant.clone(), false);
            let line = vec![answer.text("refresh_token")];
            let rotated_at = self.model.now;
            self.model.families.push(Family { grant, line, rotated_at, ended: false });
            let family = self.model.families.len() - 1;
            self.model.codes[index].family = Some(family);
            self.issued(family, answer.text("access_token"));
        } else if let (true, Some(family)) = (right, family) {
            self.model.end(family);
        }
        format!("redeem {index} {right}: {}", answer.verdict())
    }

    fn issued(&mut self, family: usize, secret: String) {
        let ends = self.model.now + ACCESS;
        self.model.access.push(Access { secret, family, ends, revoked: false });
    }

    async fn refresh(&mut self) -> String {
        if self.model.families.is_empty() {
            return "nothing to refresh".to_owned();
        }
        let index = self.pick(self.model.families.len());
        let family = &self.model.families[index];
        let generation = self.pick(family.line.len() + 1).min(family.line.len() - 1);
        let (presented, current) = (family.line[generation].clone(), family.line.len() - 1);
        let answer = self.desk.refresh(&self.client, &presented).await;
        let alive = !family.ended && !self.model.revoked[&family.grant];
        let lost = generation + 1 == current && self.model.now <= family.rotated_at + GRACE;
        let serves = alive && (generation == current || lost);
        assert_eq!(
            answer.status == 200,
            serves,
            "family {index} generation {generation}: {}",
            answer.verdict()
        );
        if serves {
            let successor = answer.text("refresh_token");
            if generation == current {
                self.model.families[index].line.push(successor);
                self.model.families[index].rotated_at = self.model.now;
            } else {
                assert_eq!(
                    successor, self.model.families[index].line[current],
                    "a lost answer is the same answer"
                );
            }
            self.issued(index, answer.text("access_token"));
        } else {
            self.model.end(index);
        }
        format!("refresh {index}.{generation} of {current}: {}", answer.verdict())
    }

    async fn revoke_token(&mut self) -> String {
        if self.model.access.is_empty() {
            return "nothing to revoke".to_owned();
        }
        let index = self.pick(self.model.access.len());
        let by_refresh = self.pick(2) == 0;
        let family = self.model.access[index].family;
        let token = if by_refresh {
            self.model.families[family].line[0].clone()
        } else {
            self.model.access[index].secret.clone()
        };
        let pairs = [("token", token.as_str()), ("client_id", self.client.as_str())];
        self.desk.form("/oauth/revoke", &pairs).await.expect("200 ok");
        if by_refresh {
            self.model.end(family);
        } else {
            self.model.access[index].revoked = true;
        }
        format!("revoke token {index} {by_refresh}")
    }

    async fn revoke_grant(&mut self) -> String {
        if self.model.families.is_empty() {
            return "nothing to revoke".to_owned();
        }
        let grant = self.model.families[self.pick(self.model.families.len())].grant.clone();
        let path = format!("/grants/{grant}/revoke");
        self.desk.json(&path, Some(&self.desk.owner), &json!({})).await.expect("200 ok");
        self.model.revoked.insert(grant.clone(), true);
        format!("revoke {grant}")
    }
}

#[tokio::test]
async fn no_sequence_of_calls_reads_outside_a_live_grant() {
    for seed in 0..SEEDS {
        let desk = Desk::seeded(seed).await;
        let client = desk.register().await;
        let random = SeededEntropy::new(seed ^ 0xA5A5);
        let mut run = Run { desk: &desk, client, random, model: Model::default() };
        let mut history = Vec::new();
        for step in 0..STEPS {
            println!("seed {seed}, step {step}");
            history.push(run.step().await);
            for (index, access) in run.model.access.iter().enumerate() {
                let verdict = desk.read(&access.secret).await;
                let expected = run.model.opens(access);
                assert_eq!(
                    verdict == "200 ok",
                    expected,
                    "seed {seed}, token {index}: {verdict} after {history:#?}"
                );
            }
        }
    }
}

/// Whoever comes first: a code gives tokens at most once, and nothing reads after its grant was revoked.
#[tokio::test(flavor = "multi_thread")]
async fn calls_at_the_same_time_read_nothing_outside_a_live_grant() {
    for seed in 0..SEEDS {
        println!("seed {seed}");
        let desk = Desk::seeded(seed).await;
        let client = desk.register().await;
        let code = desk.code(&client, &notes("continuous")).await;
        let redeem = || desk.redeem(&client, &code, &[]);
        let (one, two, three) = tokio::join!(redeem(), redeem(), redeem());
        let issued: Vec<_> = [one, two, three].into_iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(issued.len(), 1, "seed {seed}: a code serves once");
        assert_eq!(
            desk.read(&issued[0].text("access_token")).await,
            "401 authentication_error",
            "its replay ended it"
        );

        let tokens = desk.connect(&notes("continuous")).await;
        let path = format!("/grants/{}/revoke", tokens.grant_id);
        let (refresh, nothing) = (|| desk.refresh(&tokens.client_id, tokens.refresh()), json!({}));
        let (one, two, revoked, three) =
            tokio::join!(refresh(), refresh(), desk.json(&path, Some(&desk.owner), &nothing), refresh());
        revoked.expect("200 ok");
        for answer in [one, two, three].iter().filter(|answer| answer.status == 200) {
            let verdict = desk.read(&answer.text("access_token")).await;
            assert_eq!(verdict, "403 grant_revoked", "seed {seed}");
            desk.refresh(&tokens.client_id, &answer.text("refresh_token")).await.expect("400 invalid_grant");
        }
        assert_eq!(desk.read(&tokens.access).await, "403 grant_revoked", "seed {seed}");
    }
}
