//! Every verdict beside that of another validator, which shares no code with ours.

use crate::generate::{Draft, Random, Schemas, any_value, near};
use crate::rounds;
use serde_json::Value;
use toolpost_schema::{Schema, check_shape};

const DRAFTS: [Draft; 5] = [Draft::Y2020, Draft::Y2020, Draft::Y2020, Draft::Y2019, Draft::Seven];

fn oracle(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options().should_validate_formats(false).offline().build(schema).ok()
}

/// The other validator divides floats: for it 2^63 is a multiple of 2.5, and 1e308 is none, although 4e307 times 2.5 is
/// just that.
fn is_beyond_theirs(schema: &Value, value: &Value) -> bool {
    fn has_large(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() >= 9e15),
            Value::Array(items) => items.iter().any(has_large),
            Value::Object(map) => map.values().any(has_large),
            _ => false,
        }
    }
    has_large(value) && schema.to_string().contains("multipleOf")
}

#[test]
fn verdicts_are_those_of_another_validator() {
    let count = rounds(1_000, 100_000);
    let (mut accepted, mut refused, mut wrong) = (0u64, 0u64, Vec::new());
    for seed in 0..count {
        let random = &mut Random::new(seed);
        let draft = *random.pick(&DRAFTS);
        let schema = Schemas { random, draft }.whole();
        let ours = match Schema::compile(schema.clone()) {
            Ok(ours) => ours,
            // The anchor may be missing; then nobody can resolve it.
            Err(error) => {
                assert!(oracle(&schema).is_none(), "seed {seed}: only we refuse {schema}: {error}");
                continue;
            }
        };
        let theirs = oracle(&schema).unwrap_or_else(|| panic!("seed {seed}: only they refuse {schema}"));
        for at in 0..24 {
            let value = if at == 0 { any_value(random, 3) } else { near(random, &schema, &schema, 0) };
            if is_beyond_theirs(&schema, &value) {
                continue;
            }
            let (fits, expected) = (ours.accepts(&value), theirs.is_valid(&value));
            *(if fits { &mut accepted } else { &mut refused }) += 1;
            if fits != expected {
                wrong.push(format!("seed {seed}: should be {expected}: {value}\n  by {schema}"));
            }
            let problems = ours.problems(&value);
            assert_eq!(problems.is_empty(), fits, "seed {seed}: {problems:?} for {value} by {schema}");
        }
    }
    let of = accepted + refused;
    assert!(wrong.is_empty(), "{} of {of} differ:\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n"));
    // A generator that only ever makes one kind proves nothing.
    assert!(accepted * 5 > of && refused * 5 > of, "{accepted} accepted, {refused} refused");
}

/// Puts another value in the place of some part of a schema.
fn spoil(random: &mut Random, schema: &mut Value) {
    let parts = match schema {
        Value::Object(map) if random.chance(85) => map.values_mut().collect::<Vec<_>>(),
        Value::Array(items) if random.chance(85) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let count = parts.len();
    match parts.into_iter().nth(random.below(count)) {
        Some(part) => spoil(random, part),
        None => *schema = any_value(random, 1),
    }
}

#[test]
fn what_is_no_schema_is_none_for_another_validator() {
    let (mut fine, mut bad, mut wrong) = (0u64, 0u64, Vec::new());
    for seed in 0..rounds(3_000, 300_000) {
        let random = &mut Random::new(seed);
        let mut schema = Schemas { random, draft: Draft::Y2020 }.whole();
        schema.as_object_mut().unwrap().shift_remove("$schema");
        spoil(random, &mut schema);
        let (ours, theirs) = (check_shape(&schema), jsonschema::draft202012::meta::is_valid(&schema));
        *(if theirs { &mut fine } else { &mut bad }) += 1;
        if ours.is_ok() != theirs {
            wrong.push(format!("seed {seed}: should be {theirs}: {ours:?} {schema}"));
        }
    }
    let of = fine + bad;
    assert!(wrong.is_empty(), "{} of {of} differ:\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n"));
    assert!(fine * 10 > of && bad * 10 > of, "{fine} fine, {bad} bad");
}
