//! Type names of other languages and dialects, as people and generators write them into schemas.

/// What a type name means in JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// This type.
    Type(&'static str),
    /// Any value.
    Any,
    /// Nothing we know.
    Unknown,
}

/// Looks up a type name in any case, without its type arguments: `List[str]` is a list.
pub(super) fn meaning(name: &str) -> Meaning {
    let end = name.find(['[', '<', '(']).unwrap_or(name.len());
    if end > 32 {
        return Meaning::Unknown;
    }
    match name[..end].trim().to_ascii_lowercase().as_str() {
        "string" | "str" | "text" | "char" | "character" | "uuid" | "date" | "datetime" | "date-time"
        | "time" | "timestamp" | "url" | "uri" | "path" | "email" | "bytes" | "byte[]" | "enum" | "file" => {
            Meaning::Type("string")
        }
        "integer" | "int" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32"
        | "uint64" | "long" | "short" | "byte" | "bigint" | "i32" | "i64" | "u32" | "u64" | "usize" => {
            Meaning::Type("integer")
        }
        "number" | "float" | "double" | "decimal" | "real" | "float32" | "float64" | "f32" | "f64"
        | "numeric" => Meaning::Type("number"),
        "boolean" | "bool" => Meaning::Type("boolean"),
        "object" | "dict" | "dictionary" | "map" | "hashmap" | "hashtable" | "struct" | "record" | "json"
        | "mapping" => Meaning::Type("object"),
        "array" | "list" | "tuple" | "set" | "arraylist" | "vec" | "vector" | "sequence" | "queue" => {
            Meaning::Type("array")
        }
        "null" | "none" | "nil" | "nonetype" | "void" | "undefined" => Meaning::Type("null"),
        "any" | "" | "mixed" | "unknown" | "type_unspecified" | "*" => Meaning::Any,
        _ => Meaning::Unknown,
    }
}
