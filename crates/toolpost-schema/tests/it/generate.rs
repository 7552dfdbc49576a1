//! Random schemas, and values near their edges. Knows JSON Schema only from its specification.

use serde_json::{Map, Value, json};

/// A small generator of random numbers (SplitMix64), the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Draft {
    Seven,
    Y2019,
    Y2020,
}

impl Draft {
    pub(crate) fn uri(self) -> &'static str {
        match self {
            Draft::Seven => "http://json-schema.org/draft-07/schema#",
            Draft::Y2019 => "https://json-schema.org/draft/2019-09/schema",
            Draft::Y2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    fn definitions(self) -> &'static str {
        if self == Draft::Seven { "definitions" } else { "$defs" }
    }
}

const NAMES: [&str; 6] = ["a", "b", "c", "tag", "x/y", "n~0"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
const PATTERNS: [&str; 8] =
    ["^a", "b$", r"^\d+$", r"\w\s", "[a-c]{2,3}", r"^(foo|bär)$", r"\u00e9", r"[^\x00-\x1f]"];
/// How many definitions a schema has.
const DEFINITIONS: usize = 3;

/// Where a schema stands, so that no references lead in a circle on the same value.
#[derive(Clone, Copy)]
struct Position {
    depth: usize,
    /// The first definition that may be referred to.
    first: usize,
    /// Whether a part of the value has been entered, which makes every reference safe.
    is_inside: bool,
}

impl Position {
    fn same(self) -> Position {
        Position { depth: self.depth + 1, ..self }
    }

    fn inside(self) -> Position {
        Position { depth: self.depth + 1, first: 0, is_inside: true }
    }
}

pub(crate) struct Schemas<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) draft: Draft,
}

impl Schemas<'_> {
    /// A whole schema with its definitions.
    pub(crate) fn whole(&mut self) -> Value {
        let mut definitions = Map::new();
        for at in 0..DEFINITIONS {
            let position = Position { depth: 2, first: at + 1, is_inside: false };
            let mut schema = self.schema(position);
            if at == 0
                && self.draft > Draft::Seven
                && let Value::Object(map) = &mut schema
            {
                map.insert("$anchor".to_owned(), json!("here"));
            }
            definitions.insert(format!("d{at}"), schema);
        }
        let root = self.schema(Position { depth: 0, first: 0, is_inside: false });
        let mut root = match root {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if self.draft == Draft::Seven {
            // `$ref` would make its neighbours meaningless, and the definitions with them.
            root.remove("$ref");
        }
        root.insert("$schema".to_owned(), json!(self.draft.uri()));
        root.insert(self.draft.definitions().to_owned(), Value::Object(definitions));
        Value::Object(root)
    }

    fn schema(&mut self, position: Position) -> Value {
        if self.random.chance(6) {
            return json!(self.random.chance(75));
        }
        let mut map = Map::new();
        let count = if position.depth > 3 { 1 + self.random.below(2) } else { 1 + self.random.below(4) };
        if self.random.chance(50) {
            self.types(&mut map);
        }
        for _ in 0..count {
            match self.random.below(9) {
                0 => self.numbers(&mut map),
                1 => self.texts(&mut map),
                2 => self.constants(&mut map),
                3 => self.counts(&mut map),
                4 if position.depth <= 3 => self.arrays(&mut map, position),
                5 | 6 if position.depth <= 3 => self.objects(&mut map, position),
                7 if position.depth <= 3 => self.logic(&mut map, position),
                8 => self.references(&mut map, position),
                _ => self.types(&mut map),
            }
        }
        Value::Object(map)
    }

    fn types(&mut self, map: &mut Map<String, Value>) {
        let kind = if self.random.chance(75) {
            json!(self.random.pick(&TYPES))
        } else {
            let start = self.random.below(5);
            json!(TYPES[start..start + 2])
        };
        map.insert("type".to_owned(), kind);
    }

    fn numbers(&mut self, map: &mut Map<String, Value>) {
        let key =
            *self.random.pick(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);
        let value = match key {
            "multipleOf" => self
                .random
                .pick(&[json!(1), json!(2), json!(3), json!(0.1), json!(0.5), json!(0.01), json!(2.5)])
                .clone(),
            _ => number(self.random),
        };
        map.insert(key.to_owned(), value);
    }

    fn texts(&mut self, map: &mut Map<String, Value>) {
        match self.random.below(3) {
            0 => map.insert("minLength".to_owned(), json!(self.random.below(4))),
            1 => map.insert("maxLength".to_owned(), json!(self.random.below(6))),
            _ => map.insert("pattern".to_owned(), json!(self.random.pick(&PATTERNS))),
        };
    }

    fn constants(&mut self, map: &mut Map<String, Value>) {
        match self.random.chance(50) {
            true => map.insert("const".to_owned(), any_value(self.random, 2)),
            false => {
                let count = 1 + self.random.below(4);
                let values = (0..count).map(|_| any_value(self.random, 2)).collect();
                map.insert("enum".to_owned(), values)
            }
        };
    }

    fn counts(&mut self, map: &mut Map<String, Value>) {
        let keys = ["minItems", "maxItems", "minProperties", "maxProperties"];
        let key = (*self.random.pick(&keys)).to_owned();
        let limit = if key.starts_with("min") { 3 } else { 4 };
        map.insert(key, json!(self.random.below(limit)));
    }

    fn list(&mut self, position: Position) -> Value {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.schema(position)).collect()
    }

    fn arrays(&mut self, map: &mut Map<String, Value>, position: Position) {
        let inside = position.inside();
        match (self.random.below(5), self.draft) {
            (0, Draft::Y2020) => map.insert("prefixItems".to_owned(), self.list(inside)),
            (0, _) => {
                map.insert("items".to_owned(), self.list(inside));
                map.insert("additionalItems".to_owned(), self.schema(inside))
            }
            (1, _) => map.insert("items".to_owned(), self.schema(inside)),
            (2, draft) => {
                if draft > Draft::Seven && self.random.chance(50) {
                    map.insert("minContains".to_owned(), json!(self.random.below(3)));
                }
                if draft > Draft::Seven && self.random.chance(50) {
                    map.insert("maxContains".to_owned(), json!(self.random.below(3)));
                }
                map.insert("contains".to_owned(), self.schema(inside))
            }
            (3, draft) if draft > Draft::Seven => {
                let rest = if self.random.chance(70) { json!(false) } else { self.schema(inside) };
                map.insert("unevaluatedItems".to_owned(), rest)
            }
            _ => map.insert("uniqueItems".to_owned(), json!(true)),
        };
    }

    fn objects(&mut self, map: &mut Map<String, Value>, position: Position) {
        let inside = position.inside();
        match (self.random.below(9), self.draft) {
            (0..=2, _) => map.insert("properties".to_owned(), self.by_name(inside)),
            (3, _) => {
                let rest = if self.random.chance(60) { json!(false) } else { self.schema(inside) };
                map.insert("additionalProperties".to_owned(), rest)
            }
            (4, _) => {
                let pattern = *self.random.pick(&["^a", "[b-t]", "^x/", "^.$"]);
                map.insert("patternProperties".to_owned(), json!({pattern: self.schema(inside)}))
            }
            (5, _) => map.insert("propertyNames".to_owned(), self.schema(Position { depth: 4, ..inside })),
            (6, Draft::Seven) => {
                let needed = self.names();
                let dependency =
                    json!({*self.random.pick(&NAMES): needed, "zz": self.schema(position.same())});
                map.insert("dependencies".to_owned(), dependency)
            }
            (6, _) if self.random.chance(50) => {
                let needed = self.names();
                map.insert("dependentRequired".to_owned(), json!({*self.random.pick(&NAMES): needed}))
            }
            (6, _) => {
                let schema = self.schema(position.same());
                map.insert("dependentSchemas".to_owned(), json!({*self.random.pick(&NAMES): schema}))
            }
            (7, draft) if draft > Draft::Seven => {
                let rest = if self.random.chance(70) { json!(false) } else { self.schema(inside) };
                map.insert("unevaluatedProperties".to_owned(), rest)
            }
            _ => {
                let names = self.names();
                map.insert("required".to_owned(), names)
            }
        };
    }

    fn names(&mut self) -> Value {
        let start = self.random.below(NAMES.len());
        let count = 1 + self.random.below(2);
        json!(NAMES[start..(start + count).min(NAMES.len())])
    }

    fn by_name(&mut self, position: Position) -> Value {
        let count = 1 + self.random.below(3);
        let pairs = (0..count).map(|_| ((*self.random.pick(&NAMES)).to_owned(), self.schema(position)));
        Value::Object(pairs.collect())
    }

    fn logic(&mut self, map: &mut Map<String, Value>, position: Position) {
        let same = position.same();
        match self.random.below(6) {
            0 => map.insert("allOf".to_owned(), self.list(same)),
            1 | 2 => map.insert("anyOf".to_owned(), self.list(same)),
            3 => map.insert("oneOf".to_owned(), self.list(same)),
            4 => map.insert("not".to_owned(), self.schema(same)),
            _ => {
                map.insert("then".to_owned(), self.schema(same));
                map.insert("else".to_owned(), self.schema(same));
                map.insert("if".to_owned(), self.schema(same))
            }
        };
    }

    fn references(&mut self, map: &mut Map<String, Value>, position: Position) {
        let defs = self.draft.definitions();
        let reference = match self.random.below(6) {
            0 if position.is_inside => "#".to_owned(),
            1 if position.first == 0 && self.draft > Draft::Seven => "#here".to_owned(),
            _ if position.first < DEFINITIONS => {
                let at = position.first + self.random.below(DEFINITIONS - position.first);
                format!("#/{defs}/d{at}")
            }
            _ => return,
        };
        // The anchor is in the first definition, if that is an object.
        map.insert("$ref".to_owned(), json!(reference));
    }
}

fn number(random: &mut Random) -> Value {
    const FLOATS: [f64; 10] = [0.1, 0.3, 1.0, 2.5, -0.0, 1e308, 9007199254740993.0, 1.1, 19.99, 1e-7];
    match random.below(12) {
        0 => json!(9_007_199_254_740_993_u64),
        1 => json!(u64::MAX),
        2 => json!(i64::MIN),
        3..=5 => json!(random.pick(&FLOATS)),
        6 => json!(random.below(400) as f64 / 100.0),
        _ => json!(random.below(9) as i64 - 3),
    }
}

fn text(random: &mut Random) -> String {
    const TEXTS: [&str; 14] =
        ["", "a", "b", "ab", "abc", "foo", "bär", "bar", "12", "x y", "\u{e9}", "😀😀", "e\u{301}", "\t"];
    (*random.pick(&TEXTS)).to_owned()
}

/// Any value at all.
pub(crate) fn any_value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(random.chance(50)),
        2 | 3 => number(random),
        4 | 5 => json!(text(random)),
        6 | 7 => {
            let count = random.below(4);
            (0..count).map(|_| any_value(random, depth - 1)).collect()
        }
        _ => {
            let count = random.below(4);
            let pairs = (0..count).map(|_| ((*random.pick(&NAMES)).to_owned(), any_value(random, depth - 1)));
            Value::Object(pairs.collect())
        }
    }
}

/// A value that often fits a schema, and else fails narrowly.
pub(crate) fn near(random: &mut Random, schema: &Value, root: &Value, depth: usize) -> Value {
    let Value::Object(map) = schema else { return any_value(random, 1) };
    if depth > 5 || random.chance(8) {
        return any_value(random, 1);
    }
    if let Some(reference) = map.get("$ref").and_then(Value::as_str)
        && random.chance(60)
    {
        let target = match reference {
            "#here" => root.pointer("/$defs/d0"),
            reference => root.pointer(&reference[1..]),
        };
        return near(random, target.unwrap_or(root), root, depth + 1);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(forms) = map.get(key).and_then(Value::as_array)
            && random.chance(50)
        {
            let form = random.pick(forms).clone();
            let given = near(random, &form, root, depth + 1);
            return joined(given, plain(random, map, root, depth));
        }
    }
    plain(random, map, root, depth)
}

/// Two objects as one; of other values the first.
fn joined(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            other.into_iter().for_each(|(key, value)| {
                one.entry(key).or_insert(value);
            });
            Value::Object(one)
        }
        (one, _) => one,
    }
}

fn plain(random: &mut Random, map: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    if let Some(value) = map.get("const") {
        return alike(random, value);
    }
    if let Some(options) = map.get("enum").and_then(Value::as_array).filter(|options| !options.is_empty()) {
        let option = random.pick(options).clone();
        return alike(random, &option);
    }
    let kind = match map.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => random.pick(kinds).as_str().unwrap_or_default().to_owned(),
        _ => guess(random, map).to_owned(),
    };
    match kind.as_str() {
        "null" => Value::Null,
        "boolean" => json!(random.chance(50)),
        "integer" | "number" => near_number(random, map),
        "string" => json!(near_text(random, map)),
        "array" => near_array(random, map, root, depth),
        _ => near_object(random, map, root, depth),
    }
}

/// The type that the keywords of a schema are about.
fn guess(random: &mut Random, map: &Map<String, Value>) -> &'static str {
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    match () {
        () if random.chance(10) => TYPES[random.below(7)],
        () if has(&["items", "prefixItems", "contains", "uniqueItems", "unevaluatedItems", "minItems"]) => {
            "array"
        }
        () if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]) => "number",
        () if has(&["pattern", "minLength", "maxLength"]) => "string",
        () if has(&["properties", "required", "additionalProperties", "propertyNames"]) => "object",
        () => TYPES[random.below(7)],
    }
}

/// The same value in another form: `1` as `1.0`, an object in another order.
fn alike(random: &mut Random, value: &Value) -> Value {
    match value {
        Value::Number(number) if random.chance(50) => match number.as_i64() {
            Some(integer) if integer.unsigned_abs() < 1 << 53 => json!(integer as f64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| alike(random, item)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(key, item)| (key.clone(), alike(random, item))).collect())
        }
        _ => value.clone(),
    }
}

fn near_number(random: &mut Random, map: &Map<String, Value>) -> Value {
    for key in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
        if let Some(limit) = map.get(key)
            && random.chance(60)
        {
            return match (limit.as_i64(), random.below(4)) {
                (Some(limit), 0) => json!(limit.saturating_add(1)),
                (Some(limit), 1) => json!(limit.saturating_sub(1)),
                (Some(limit), 2) if limit.unsigned_abs() < 1 << 50 => json!(limit as f64 + 0.5),
                _ => limit.clone(),
            };
        }
    }
    if let Some(step) = map.get("multipleOf").and_then(Value::as_f64)
        && random.chance(60)
    {
        // Written as a person would: a decimal, not what multiplying floats gives.
        let product = format!("{:.2}", step * (random.below(40) as f64 - 9.0));
        return serde_json::from_str(&product).unwrap();
    }
    number(random)
}

fn near_text(random: &mut Random, map: &Map<String, Value>) -> String {
    let limit = map.get("minLength").or_else(|| map.get("maxLength")).and_then(Value::as_u64);
    match limit {
        Some(limit) if random.chance(70) => {
            let letter = *random.pick(&["a", "é", "😀", "1"]);
            letter.repeat((limit as usize + random.below(3)).saturating_sub(1))
        }
        _ => text(random),
    }
}

fn near_array(random: &mut Random, map: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    let empty = Value::Bool(true);
    let prefix: &[Value] = match (map.get("prefixItems"), map.get("items")) {
        (Some(Value::Array(list)), _) | (None, Some(Value::Array(list))) => list,
        _ => &[],
    };
    let rest = match map.get("items") {
        Some(Value::Array(_)) => map.get("additionalItems"),
        items => items,
    };
    let rest = rest.or_else(|| map.get("contains")).unwrap_or(&empty);
    let count = random.below(5);
    (0..count).map(|at| near(random, prefix.get(at).unwrap_or(rest), root, depth + 1)).collect()
}

fn near_object(random: &mut Random, map: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    let mut object = Map::new();
    for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if random.chance(70) {
            object.insert(name.clone(), near(random, schema, root, depth + 1));
        }
    }
    for name in map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if random.chance(85) && !object.contains_key(name) {
            object.insert(name.to_owned(), any_value(random, 1));
        }
    }
    if random.chance(25) {
        object.insert((*random.pick(&NAMES)).to_owned(), any_value(random, 1));
    }
    Value::Object(object)
}
