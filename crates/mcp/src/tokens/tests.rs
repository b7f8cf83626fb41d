//! The estimate against the real tokenizer, window by window.

use serde_json::{Value, json};

use super::{estimate, estimate_json, estimate_rows, whole};

fn real(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Every window of 200 characters and more.
fn windows(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut windows = vec![text.to_owned()];
    for length in [200, 400, 1_000] {
        windows.extend(chars.windows(length).step_by(37).map(|window| window.iter().collect()));
    }
    windows
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let chars: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| chars[self.below(chars.len())]).collect()
    }
}

const HEX: &str = "0123456789abcdef";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const GERMAN: &str = "Der Vermieter hat am dritten März geschrieben, dass die Kaution erst nach der Übergabe der Wohnung zurückgezahlt wird, und zwar abzüglich der Reparaturkosten für das beschädigte Fenster im Schlafzimmer. Wir hatten im Übergabeprotokoll ausdrücklich festgehalten, dass diese Beschädigung bereits beim Einzug vorhanden war; trotzdem besteht die Hausverwaltung auf einer Kostenübernahme. Bitte prüfen Sie die Nebenkostenabrechnung und die Betriebskostenvorauszahlung für das vergangene Geschäftsjahr sorgfältig, bevor Sie Widerspruch einlegen.";
const RUSSIAN: &str = "Вчера вечером мы долго обсуждали условия договора аренды, и хозяйка квартиры согласилась вернуть залог в течение двух недель после выезда. Однако в письме, которое пришло сегодня утром, она упоминает дополнительные расходы на ремонт, о которых раньше не говорилось. Пожалуйста, проверьте переписку за март и найдите сообщение, где обсуждалась сумма возмещения и сроки платежа.";
const ARABIC: &str = "في الشهر الماضي اتفقنا مع صاحب المنزل على إعادة مبلغ التأمين خلال أسبوعين بعد تسليم المفاتيح، لكن الرسالة التي وصلت هذا الصباح تتحدث عن تكاليف إضافية للإصلاح لم نسمع بها من قبل. من فضلك ابحث في الرسائل القديمة عن الرسالة التي ناقشنا فيها المبلغ وموعد الدفع، ثم أرسل إلي ملخصا قصيرا مع المصدر.";
const HINDI: &str = "पिछले महीने हमने मकान मालिक से तय किया था कि चाबियाँ सौंपने के दो सप्ताह के भीतर जमा राशि लौटा दी जाएगी, लेकिन आज सुबह आए पत्र में मरम्मत के अतिरिक्त खर्चों का उल्लेख है जिनके बारे में पहले कभी बात नहीं हुई थी। कृपया पुराने संदेशों में वह संदेश खोजें जिसमें राशि और भुगतान की तारीख पर चर्चा हुई थी, और मुझे स्रोत सहित संक्षिप्त सार भेजें।";
const CHINESE: &str = "上个月我们和房东商定，交还钥匙后两周之内退还押金。可是今天早上收到的信里提到了一些以前从未说过的维修费用。请在三月份的聊天记录里找到讨论退款金额和付款日期的那条消息，并附上出处。如果合同里另有规定，请把相关条款的原文也一起发给我，谢谢。我们还需要确认水电费是否已经结清，以及搬家公司的发票有没有寄到新的地址，否则月底之前可能来不及报销所有的费用，请尽快回复，并把所有的附件也一并转发给会计部门，以便他们核对账目，按时完成本季度的结算工作。";
const JAPANESE: &str = "先月、大家さんとの話し合いで、鍵を返してから二週間以内に敷金を返してもらうことになりました。しかし今朝届いた手紙には、これまで聞いたことのない修理費用について書かれています。三月のメッセージの中から、返金額と支払い日について話した部分を探して、出典と一緒に短くまとめてください。契約書に別の規定がある場合は、その条文も一緒に送っていただけると助かります。引っ越し業者の請求書が新しい住所に届いているかどうかも確認してください。";
const KOREAN: &str = "지난달 집주인과 열쇠를 반납한 뒤 두 주 안에 보증금을 돌려받기로 했습니다. 그런데 오늘 아침에 도착한 편지에는 전에 한 번도 들어 본 적이 없는 수리 비용이 적혀 있었습니다. 삼월 메시지에서 환불 금액과 지급 날짜를 이야기한 부분을 찾아 출처와 함께 짧게 요약해 주세요. 계약서에 다른 규정이 있으면 그 조항도 함께 보내 주시기 바랍니다. 이사 업체의 청구서가 새 주소로 도착했는지도 확인해 주십시오.";
const THAI: &str = "เดือนที่แล้วเราตกลงกับเจ้าของบ้านว่าจะคืนเงินประกันภายในสองสัปดาห์หลังจากส่งมอบกุญแจ แต่จดหมายที่มาถึงเมื่อเช้านี้กล่าวถึงค่าซ่อมแซมเพิ่มเติมซึ่งเราไม่เคยได้ยินมาก่อน กรุณาค้นหาข้อความในเดือนมีนาคมที่พูดถึงจำนวนเงินที่จะคืนและวันที่ชำระเงิน แล้วสรุปสั้น ๆ พร้อมแหล่งที่มาให้ด้วย หากสัญญาระบุไว้เป็นอย่างอื่น โปรดส่งข้อความในสัญญานั้นมาด้วย";

const GREEK: &str = "Τον περασμένο μήνα συμφωνήσαμε με τον ιδιοκτήτη να επιστρέψει την εγγύηση μέσα σε δύο εβδομάδες μετά την παράδοση των κλειδιών. Όμως το γράμμα που ήρθε σήμερα το πρωί αναφέρει πρόσθετα έξοδα επισκευής για τα οποία δεν είχαμε ακούσει ποτέ πριν. Παρακαλώ βρες το μήνυμα όπου συζητήσαμε το ποσό.";
const HEBREW: &str = "בחודש שעבר סיכמנו עם בעל הבית שהפיקדון יוחזר תוך שבועיים לאחר מסירת המפתחות, אבל במכתב שהגיע הבוקר מוזכרות הוצאות תיקון נוספות שלא שמענו עליהן מעולם. בבקשה חפש בהודעות הישנות את ההודעה שבה דנו בסכום ובמועד התשלום, ושלח לי סיכום קצר עם המקור שלו.";
const PROSE: &str = "I spoke with the landlord again on Tuesday, and she finally agreed to return the whole deposit within two weeks of our moving out. She had first claimed that the bedroom window was broken while we lived there, but the handover report says clearly that it was cracked before we arrived. When I showed her the photographs, she apologised and promised to write to the agency herself. “Don’t worry about the paint,” she added — the decorators were coming anyway. Could you please look through our messages from March, find the one where the amount was discussed, and send me a short summary with its source? I would like to answer before the end of the week, because the new contract begins on the first of May and the bank still needs a copy of everything.";

fn emoji() -> String {
    "😀🎉 great! 👍🏽 see you 🏳️‍🌈 👨‍👩‍👧‍👦 tomorrow ❤️ at 5 🚀🔥✅ 😂😂😂 ok 🇩🇪🇫🇷 🙏 ☕ and 🍕🍺🎂 bye 👋🏻".repeat(4)
}

fn envelope() -> Value {
    let hit = |n: usize| {
        json!({"object": "search_result", "stream": "messages", "record_key": format!("m{n}"),
            "connection_id": "cin_01hx3v9k2mqz7", "display_name": "Acme Slack", "score": 12.25,
            "emitted_at": "2026-03-04T11:22:33Z", "result_id": format!("cin_01hx3v9k2mqz7/messages:m{n}"),
            "evidence_excerpts": [{"field_path": "text", "preview_text": "the deposit will be returned within two weeks",
                "start_chars": 120, "end_chars": 280, "total_chars": 5231, "truncated": true,
                "read": {"method": "GET", "route": "/v1/streams/messages/records/m1/field-window", "field": "text"}}],
            "matched_fields": ["text"], "retrieval_mode": "lexical"})
    };
    json!({"object": "list", "has_more": true, "data": (0..8).map(hit).collect::<Vec<_>>(), "meta": {"warnings": []}})
}

/// Records as our own server sends them.
fn rows() -> Value {
    let row = |n: usize| {
        json!({"object": "record", "id": format!("m_{n:04}"), "stream": "messages",
            "data": {"id": format!("m_{n:04}"), "author": "Ana", "sent_at": "2025-09-01T16:07:00Z"},
            "emitted_at": "2025-09-01T16:12:00Z", "result_id": format!("cin_5f1c0a9be2d44e07/messages:m_{n:04}"),
            "connector_instance_id": "cin_5f1c0a9be2d44e07", "connection_id": "cin_5f1c0a9be2d44e07",
            "display_name": "Harbour chat"})
    };
    (0..25).map(row).collect()
}

fn samples() -> Vec<(&'static str, String)> {
    let mut random = Random(7);
    let printable: String = ('!'..='~').collect();
    let marks: String = printable.chars().filter(|c| !c.is_ascii_alphanumeric()).collect();
    let ids: Vec<String> = (0..40)
        .map(|_| {
            let mut part = |n| random.text(HEX, n);
            format!("{}-{}-{}-{}-{}", part(8), part(4), part(4), part(4), part(12))
        })
        .collect();
    let ulids: Vec<String> =
        (0..60).map(|_| format!("cin_{}", random.text("0123456789abcdefghjkmnpqrstvwxyz", 26))).collect();
    let words: Vec<String> = (0..200).map(|n| random.text("abcdefghijklmnopqrstuvwxyz", 2 + n % 9)).collect();
    let any: String =
        (0..2_000).filter_map(|_| char::from_u32(u32::try_from(random.below(0x11_0000)).unwrap())).collect();
    let bmp: String =
        (0..2_000).filter_map(|_| char::from_u32(u32::try_from(random.below(0x1_0000)).unwrap())).collect();
    vec![
        ("markdown", include_str!("../../../../README.md").to_owned()),
        ("prose", PROSE.to_owned()),
        ("greek", GREEK.to_owned()),
        ("hebrew", HEBREW.to_owned()),
        ("german", GERMAN.to_owned()),
        ("russian", RUSSIAN.to_owned()),
        ("arabic", ARABIC.to_owned()),
        ("hindi", HINDI.to_owned()),
        ("chinese", CHINESE.to_owned()),
        ("japanese", JAPANESE.to_owned()),
        ("korean", KOREAN.to_owned()),
        ("thai", THAI.to_owned()),
        ("emoji", emoji()),
        ("code", include_str!("../handler.rs").to_owned()),
        ("json", envelope().to_string()),
        ("pretty", serde_json::to_string_pretty(&envelope()).unwrap()),
        ("escaped", Value::from(envelope().to_string()).to_string()),
        ("rows", rows().to_string()),
        ("snake", words.join("_")),
        ("marks", random.text(&marks, 2_000)),
        ("json marks", random.text(r#"{}[]",:\"#, 2_000)),
        ("base64", random.text(BASE64, 2_000)),
        ("hex", random.text(HEX, 2_000)),
        ("uuid", ids.join(" ")),
        ("uuid list", json!(ids).to_string()),
        ("ulid", ulids.join(", ")),
        ("ascii", random.text(&printable, 2_000)),
        ("letters", random.text("abcdefghijklmnopqrstuvwxyz", 2_000)),
        ("upper", random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2_000)),
        ("words", words.join(" ")),
        ("unicode", any),
        ("bmp", bmp),
        ("ideographs", random.text(&('\u{4e00}'..='\u{9fa5}').collect::<String>(), 2_000)),
    ]
}

/// Estimate and count of every window of a text.
fn measured(text: &str) -> Vec<(usize, usize)> {
    windows(text).iter().map(|window| (estimate(window), real(window))).collect()
}

#[test]
fn no_text_costs_more_than_its_estimate() {
    for (name, text) in samples() {
        for (estimated, counted) in measured(&text) {
            assert!(estimated >= counted, "{name}: {estimated} < {counted}");
        }
    }
}

#[test]
fn prose_and_envelopes_are_estimated_closely() {
    for text in [PROSE.to_owned(), envelope().to_string(), rows().to_string()] {
        for (estimated, counted) in measured(&text) {
            assert!(estimated * 10 <= counted * 13, "{estimated} > 1.3 * {counted}");
        }
    }
}

#[test]
fn our_own_answers_are_estimated_almost_exactly() {
    for value in [envelope(), rows()] {
        let (estimated, counted) = (estimate_json(&value), real(&value.to_string()));
        assert!(estimated * 100 <= counted * 118, "{estimated} > 1.18 * {counted}");
    }
}

#[test]
fn rows_cost_what_they_cost_together() {
    let foreign =
        json!([{"a": 1}, {"a": 1, "b": [null, true]}, {"b": "x\u{1f600}\n\"y\""}, "bare", 7, [], {}]);
    for rows in [rows(), envelope()["data"].clone(), foreign] {
        let items = rows.as_array().unwrap();
        let (costs, counted) = (estimate_rows(items), real(&rows.to_string()));
        assert_eq!(costs.len(), items.len());
        let estimated = costs.iter().sum::<usize>();
        assert!(estimated >= counted, "{estimated} < {counted}");
        assert!(
            estimated * 10 <= estimate_json(&rows) * 11 + items.len() * 30,
            "{estimated} for {}",
            estimate_json(&rows)
        );
        for (row, cost) in items.iter().zip(costs) {
            assert!(cost >= real(&row.to_string()), "{row}");
        }
    }
}

#[test]
fn every_listed_word_is_one_token() {
    for entry in whole::entries() {
        assert!(whole::contains(entry), "{entry} is longer than the list can hold");
        assert_eq!(real(entry), 1, "{entry}");
        if entry.starts_with(|c: char| c.is_ascii_alphabetic()) {
            assert_eq!(real(&format!(" {entry}")), 1, "{entry} after a space");
        }
    }
    assert!(!whole::contains("") && !whole::contains("xqzt") && !whole::contains("a word that is too long"));
}

#[test]
fn a_value_costs_what_its_text_costs() {
    let escaped = json!({"text": "line\nline \"quoted\" \u{1f600} ä", "n": [1, -2.5, null, true]});
    for value in [envelope(), escaped, json!(null), json!({})] {
        assert_eq!(estimate_json(&value), estimate(&value.to_string()));
    }
}

#[test]
fn nothing_costs_nothing() {
    assert_eq!(estimate(""), 0);
}
