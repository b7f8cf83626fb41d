//! What the name of a column says about what is in it.

/// Words of a name in lower case: `createdAt` and `created_at` are both `created`, `at`.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() {
            words.push(String::new());
            was_small = false;
            continue;
        }
        if character.is_uppercase() && was_small {
            words.push(String::new());
        }
        was_small = character.is_lowercase() || character.is_ascii_digit();
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Names of columns whose numbers are moments.
pub(super) fn is_time_name(name: &str) -> bool {
    const WORDS: [&str; 17] = [
        "time",
        "timestamp",
        "date",
        "datetime",
        "at",
        "ts",
        "created",
        "updated",
        "modified",
        "epoch",
        "when",
        "started",
        "ended",
        "datum",
        "zeit",
        "expires",
        "posted",
    ];
    words_of(name).iter().any(|word| WORDS.contains(&word.as_str()) || word.ends_with("time"))
}

/// Names of columns whose digits are no amount: nobody adds up postal codes.
pub(super) fn is_code_name(name: &str) -> bool {
    const WORDS: [&str; 24] = [
        "phone",
        "tel",
        "telephone",
        "mobile",
        "cell",
        "fax",
        "zip",
        "zipcode",
        "postal",
        "postcode",
        "plz",
        "iban",
        "bic",
        "blz",
        "account",
        "konto",
        "isbn",
        "ean",
        "upc",
        "sku",
        "code",
        "ssn",
        "telefon",
        "handy",
    ];
    words_of(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words_of("createdAt"), ["created", "at"]);
        assert_eq!(words_of("Order-ID 2"), ["order", "id", "2"]);
        assert!(is_time_name("createdAt") && is_time_name("start_time") && !is_time_name("Status"));
        assert!(is_code_name("Zip Code") && is_code_name("phoneNumber") && !is_code_name("amount"));
    }
}
