//! What something cost, for a person: the known part, and how much of it is not known. Pure.

use toolpost_agent::tree::Amount;

/// What an amount cost; none where it cost nothing. A part whose price is not known is never left out.
pub(crate) fn cost_in_words(amount: Amount) -> Option<String> {
    let known = (amount.cost > 0).then(|| dollars(amount.dollars()));
    match (known, amount.unpriced) {
        (known, 0) => known,
        (None, _) => Some("cost not known".to_owned()),
        (Some(known), tokens) => {
            Some(format!("{known} and {} tokens without a known price", grouped(tokens)))
        }
    }
}

/// A cost in US dollars.
pub(crate) fn dollars(cost: f64) -> String {
    match cost {
        cost if cost <= 0.0 => "$0".to_owned(),
        cost if cost < 0.0001 => "less than $0.0001".to_owned(),
        cost => format!("${cost:.4}"),
    }
}

/// A number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_said() {
        let check = |amount: Amount, expected: Option<&str>| {
            assert_eq!(cost_in_words(amount).as_deref(), expected);
        };
        let (known, unknown) = (Amount::new(100, Some(0.0012)), Amount::new(5_000_000, None));
        check(Amount::default(), None);
        check(Amount::new(10, Some(0.0)), None);
        check(known, Some("$0.0012"));
        check(unknown, Some("cost not known"));
        check(known.plus(unknown), Some("$0.0012 and 5,000,000 tokens without a known price"));
    }
}
