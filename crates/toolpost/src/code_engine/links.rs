//! What a file imports and exports, in core's words.

use super::Asked;
use super::converted::kind_of;
use toolpost_code::answers::imports::Imported;
use toolpost_code::world::FileId;
use toolpost_core::code::{Export, Import};

impl Asked<'_, '_> {
    /// The imports of a file: names of one module on one line belong together.
    pub(super) fn imports(&self, file: FileId) -> Vec<Import> {
        let mut imports: Vec<Import> = Vec::new();
        for found in self.query.imports(file) {
            let target = self.shown_path(found.files.iter().copied());
            let name = name_of(&found);
            match imports.last_mut() {
                Some(last)
                    if last.module == found.module && last.line == found.line && last.file == target =>
                {
                    last.names.extend(name);
                }
                _ => imports.push(Import {
                    module: found.module,
                    names: name.into_iter().collect(),
                    line: found.line,
                    file: target,
                }),
            }
        }
        imports
    }

    /// The exports of a file, in the order of lines.
    pub(super) fn exports(&self, file: FileId) -> Vec<Export> {
        let mut exports: Vec<Export> = Vec::new();
        for found in self.query.exports(file) {
            let symbol = found.def.and_then(|def| self.query.symbol(def));
            let origin = found.from.or_else(|| symbol.as_ref().map(|symbol| symbol.def.file));
            let kind = match (&symbol, found.from) {
                (Some(symbol), _) => kind_of(symbol.kind),
                (None, Some(_)) => "module",
                (None, None) => "name",
            };
            exports.push(Export {
                name: found.name,
                kind: kind.to_owned(),
                line: found.line,
                from: self.shown_path(origin.into_iter().filter(|origin| *origin != file)),
            });
        }
        exports
    }

    /// The path of the first file that may be shown.
    fn shown_path(&self, files: impl Iterator<Item = FileId>) -> Option<String> {
        let mut paths = files.map(|file| self.query.world.path(file));
        paths.find(|name| (self.inquiry.shows)(name)).map(str::to_owned)
    }
}

fn name_of(found: &Imported) -> Option<String> {
    match (found.is_glob, &found.name, &found.alias) {
        (true, ..) => Some("*".to_owned()),
        (_, Some(name), Some(alias)) => Some(format!("{name} as {alias}")),
        (_, name, None) => name.clone(),
        (_, None, Some(alias)) => Some(format!("as {alias}")),
    }
}
