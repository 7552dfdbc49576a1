//! Language models: wire formats as pure mappings, one transport, and the table of vendors.
