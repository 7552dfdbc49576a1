//! Numbers as JSON Schema compares them: by value, exactly, whatever their form. Never rounds.

use serde_json::Number;
use std::cmp::Ordering;

/// 2^64, the first number beyond every integer that JSON values hold here.
const BEYOND: f64 = 18_446_744_073_709_551_616.0;

/// A number is either an integer of 64 bits, with or without sign, or a float.
enum Form {
    Integer(i128),
    Float(f64),
}

fn form(number: &Number) -> Form {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), ..) => Form::Integer(integer.into()),
        (_, Some(integer), _) => Form::Integer(integer.into()),
        (.., Some(float)) => Form::Float(float),
        // JSON has no other numbers.
        _ => Form::Float(f64::NAN),
    }
}

/// Which of two numbers is greater, exactly.
pub(crate) fn compare(one: &Number, other: &Number) -> Ordering {
    match (form(one), form(other)) {
        (Form::Integer(one), Form::Integer(other)) => one.cmp(&other),
        (Form::Float(one), Form::Float(other)) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
        (Form::Float(float), Form::Integer(integer)) => float_with_integer(float, integer),
        (Form::Integer(integer), Form::Float(float)) => float_with_integer(float, integer).reverse(),
    }
}

fn float_with_integer(float: f64, integer: i128) -> Ordering {
    if float >= BEYOND {
        return Ordering::Greater;
    }
    if float <= -BEYOND {
        return Ordering::Less;
    }
    // Below 2^64 the whole part fits, and the conversion is exact.
    let whole = float.trunc() as i128;
    whole.cmp(&integer).then(float.fract().partial_cmp(&0.0).unwrap_or(Ordering::Equal))
}

/// Whether a number has no fraction: `1.0` is an integer.
pub(crate) fn is_integer(number: &Number) -> bool {
    match form(number) {
        Form::Integer(_) => true,
        Form::Float(float) => float.fract() == 0.0,
    }
}

/// A number that hashes the same as every number that is equal to it.
pub(crate) fn key(number: &Number) -> u64 {
    match form(number) {
        // Integers beyond 2^53 may share a key; they are compared exactly afterwards.
        Form::Integer(integer) => (integer as f64).to_bits(),
        Form::Float(0.0) => 0.0f64.to_bits(),
        Form::Float(float) => float.to_bits(),
    }
}

/// A positive number as `digits × 10^exponent`, without zeros at the end of its digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decimal {
    digits: u64,
    exponent: i64,
}

impl Decimal {
    /// The absolute value of a number, by the shortest decimal that means it. None for what is not finite.
    pub(crate) fn of(number: &Number) -> Option<Decimal> {
        let (mut digits, mut exponent) = match form(number) {
            Form::Integer(integer) => (u64::try_from(integer.unsigned_abs()).ok()?, 0),
            Form::Float(float) => {
                let text = format!("{:e}", float.abs());
                let (digits, exponent) = text.split_once('e')?;
                let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
                let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
                (digits, exponent.parse::<i64>().ok()? - fraction.len() as i64)
            }
        };
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        Some(Decimal { digits, exponent })
    }

    /// Whether this is a whole multiple of another one.
    pub(crate) fn is_multiple_of(self, divisor: Decimal) -> bool {
        if self.digits == 0 {
            return true;
        }
        let shift = self.exponent - divisor.exponent;
        // Neither has zeros at its end, so one with more decimals than the divisor is no multiple.
        if divisor.digits == 0 || shift < 0 {
            return false;
        }
        let modulus = u128::from(divisor.digits);
        let remainder = u128::from(self.digits) % modulus;
        (remainder * power_of_ten(shift.unsigned_abs(), modulus)).is_multiple_of(modulus)
    }
}

/// 10^exponent, modulo a number below 2^64.
fn power_of_ten(mut exponent: u64, modulus: u128) -> u128 {
    let (mut power, mut square) = (1 % modulus, 10 % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * square % modulus;
        }
        square = square * square % modulus;
        exponent >>= 1;
    }
    power
}
