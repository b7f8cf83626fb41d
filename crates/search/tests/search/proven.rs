//! What was found can be found again in the text, in whatever way it was looked for.

use pdpp_evidence::{Wanted, parse_query, prove};

use crate::support::{Archive, keys, message};

const TEXT: &str = "The report of the year, and an annual fee. Ropes for example, com or not.";

#[tokio::test]
async fn what_was_looked_for_word_by_word_is_found_again_so() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "messages", &[message("m", 1, TEXT)]).await;
    for (q, first) in [
        ("\"the annual report\"", "report"),
        ("bob@example.com", "example"),
        ("anchor-ropes", "Ropes"),
        ("\"annual fee\"", "annual fee"),
        ("anual", "annual"),
    ] {
        let ranking = archive.find(q).await;
        assert_eq!(keys(&ranking), ["m"], "{q}");
        let instead: Vec<_> = ranking.corrected.iter().map(|one| one.used.clone()).collect();
        let proof = prove(TEXT, 0..usize::MAX, None, &Wanted::of(&parse_query(q), &instead)).unwrap();
        assert_eq!(TEXT.get(proof.matches[0].clone()), Some(first), "{q}");
    }
}

#[tokio::test]
async fn a_phrase_that_is_gone_is_not_found_again() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "messages", &[message("m", 1, "Here is the annual report.")]).await;
    for q in ["\"the annual report\"", "annual-report"] {
        let ranking = archive.find(q).await;
        assert_eq!((keys(&ranking), ranking.corrected.len()), (vec!["m".to_owned()], 0), "{q}");
        assert_eq!(prove(TEXT, 0..usize::MAX, None, &Wanted::of(&parse_query(q), &[])), None, "{q}");
    }
}
