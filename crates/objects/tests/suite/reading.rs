//! Promises about reading.

use pdpp_objects::{Damage, ObjectName, Objects, ObjectsError, Stored};

use super::{bytes, collect, read_all, store};

pub(crate) async fn what_was_stored_is_read_again(objects: &Objects) {
    let content = bytes(300_000);
    let stored = store(objects, &content).await;
    assert_eq!(stored.size_bytes, 300_000);
    assert_eq!(objects.head(&stored.name).await.unwrap(), 300_000);
    assert_eq!(read_all(objects, &stored).await.unwrap(), content);
}

pub(crate) async fn a_range_has_exactly_its_bytes(objects: &Objects) {
    let content = bytes(300_000);
    let stored = store(objects, &content).await;
    for (start, end) in [
        (0, 1),
        (0, 299_999),
        (1, 300_000),
        (299_999, 300_000),
        (131_071, 131_073),
        (5, 5),
        (300_000, 300_000),
    ] {
        let part = collect(objects, &stored, start..end).await.unwrap();
        let (from, to) = (usize::try_from(start).unwrap(), usize::try_from(end).unwrap());
        assert_eq!(part, content.slice(from..to), "{start}..{end}");
    }
}

pub(crate) async fn a_range_outside_the_object_is_refused(objects: &Objects) {
    let stored = store(objects, &bytes(10)).await;
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    for range in [0..11, 11..11, 5..4] {
        let refused = collect(objects, &stored, range.clone()).await;
        assert!(matches!(refused, Err(ObjectsError::Refused(_))), "{range:?}: {refused:?}");
    }
}

pub(crate) async fn an_absent_object_is_missing(objects: &Objects) {
    let name = ObjectName::parse(&format!("ana/ab/{}.{}", "ab".repeat(32), "0f".repeat(16))).unwrap();
    let absent = Stored { name, size_bytes: 10 };
    for range in [0..10, 1..2, 3..3] {
        let missing = collect(objects, &absent, range).await;
        assert!(matches!(missing, Err(ObjectsError::Missing { .. })), "{missing:?}");
    }
    assert!(matches!(objects.head(&absent.name).await, Err(ObjectsError::Missing { .. })));
}

pub(crate) async fn a_size_that_was_remembered_wrongly_is_damage(objects: &Objects) {
    let stored = store(objects, &bytes(10)).await;
    for (size_bytes, range) in [(9, 0..9), (9, 2..4), (11, 0..11), (11, 2..4), (11, 5..5)] {
        let wrong = Stored { size_bytes, ..stored.clone() };
        let damaged = collect(objects, &wrong, range.clone()).await;
        let Err(ObjectsError::Damaged { damage, .. }) = damaged else { panic!("{range:?}: {damaged:?}") };
        let expected = if size_bytes == 9 {
            Damage::Long { expected: 9, found: 10 }
        } else {
            Damage::Short { expected: 11, found: 10 }
        };
        assert_eq!(damage, expected, "{range:?}");
    }
}
