//! How Go files hang together: packages by folder, imports by the module paths of go.mod, methods and interfaces.

use std::collections::HashMap;

use crate::facts::{Kind, Name, import, mark};
use crate::language::{Layout, Place, Project, Step};
use crate::paths::join;
use crate::resolve::{DefId, Entity, Module, Query, Shape, Type, builtin};
use crate::world::FileId;

/// The packages of a tree.
pub(super) struct Packages {
    folders: Vec<Folder>,
    of_file: HashMap<FileId, usize>,
    by_path: HashMap<String, usize>,
    /// Module paths and the folders they stand for, the longest path first.
    modules: Vec<(String, String)>,
}

struct Folder {
    files: Vec<FileId>,
}

const TYPES: [&str; 24] = [
    "any",
    "bool",
    "byte",
    "comparable",
    "complex64",
    "complex128",
    "error",
    "float32",
    "float64",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "rune",
    "string",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintptr",
    "nil",
    "iota",
];
const FUNCTIONS: [&str; 20] = [
    "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min",
    "new", "panic", "print", "println", "real", "recover", "true", "false",
];

/// Methods that types of the standard library commonly have.
const COMMON: [&str; 60] = [
    "Add",
    "Bytes",
    "Close",
    "Contains",
    "Context",
    "Copy",
    "Delete",
    "Do",
    "Done",
    "Elem",
    "Err",
    "Error",
    "Errorf",
    "Exec",
    "Fatal",
    "Fatalf",
    "Field",
    "Flush",
    "Format",
    "Get",
    "Header",
    "Helper",
    "Index",
    "Init",
    "Int",
    "Interface",
    "IsNil",
    "IsZero",
    "Kind",
    "Len",
    "Less",
    "Load",
    "Lock",
    "Log",
    "Logf",
    "Name",
    "Next",
    "Now",
    "Parse",
    "Pop",
    "Push",
    "Query",
    "Read",
    "ReadByte",
    "Reset",
    "Run",
    "Scan",
    "Seek",
    "Set",
    "Skip",
    "Store",
    "String",
    "Swap",
    "Type",
    "Unlock",
    "Unwrap",
    "Value",
    "Wait",
    "Write",
    "WriteString",
];

impl Packages {
    pub(super) fn new(layout: &Layout<'_>) -> Packages {
        let mut packages = Packages {
            folders: Vec::new(),
            of_file: HashMap::new(),
            by_path: HashMap::new(),
            modules: Vec::new(),
        };
        for &(file, path) in layout.files {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let index = match packages.by_path.get(folder) {
                Some(&index) => index,
                None => {
                    packages.folders.push(Folder { files: Vec::new() });
                    packages.by_path.insert(folder.to_owned(), packages.folders.len() - 1);
                    packages.folders.len() - 1
                }
            };
            packages.folders[index].files.push(file);
            packages.of_file.insert(file, index);
        }
        for (path, content) in layout.manifests {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            packages.read_manifest(folder, &String::from_utf8_lossy(content));
        }
        packages.modules.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        packages
    }

    fn read_manifest(&mut self, folder: &str, text: &str) {
        let mut in_replace = false;
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or("").trim();
            let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
            match words[..] {
                ["module", path] => self.modules.push((path.to_owned(), folder.to_owned())),
                ["replace", "("] => in_replace = true,
                [")"] => in_replace = false,
                _ => {}
            }
            let words = if words.first() == Some(&"replace") { &words[1..] } else { &words[..] };
            let is_replace = in_replace || line.starts_with("replace ");
            if let Some(arrow) = words.iter().position(|&word| word == "=>")
                && is_replace
                && let (Some(&from), Some(&to)) = (words.first(), words.get(arrow + 1))
                && to.starts_with('.')
                && let Some(target) = join(folder, to)
            {
                self.modules.push((from.to_owned(), target));
            }
        }
    }

    /// The folder that an import path leads to.
    fn folder_of(&self, path: &str) -> Option<usize> {
        for (module, folder) in &self.modules {
            let Some(rest) = path.strip_prefix(module.as_str()) else { continue };
            let below = match rest.strip_prefix('/') {
                Some(below) => below,
                None if rest.is_empty() => "",
                None => continue,
            };
            let target = match (folder.as_str(), below) {
                ("", below) => below.to_owned(),
                (folder, "") => folder.to_owned(),
                (folder, below) => format!("{folder}/{below}"),
            };
            if let Some(&found) = self.by_path.get(&target) {
                return Some(found);
            }
        }
        None
    }

    /// The name of the package that a file says it belongs to.
    fn package_name<'q>(query: &Query<'q>, file: FileId) -> &'q str {
        let facts = query.facts(file);
        facts.text(facts.remark)
    }

    /// The files of the package of a file.
    fn siblings<'s>(&'s self, query: &'s Query<'_>, file: FileId) -> impl Iterator<Item = FileId> + 's {
        let name = Packages::package_name(query, file);
        let files = self.of_file.get(&file).map_or(&[][..], |&folder| &self.folders[folder].files);
        files.iter().copied().filter(move |&other| Packages::package_name(query, other) == name)
    }

    /// What a package declares under a name: what the host builds comes first.
    fn declared(
        &self,
        query: &Query<'_>,
        files: impl Iterator<Item = FileId>,
        name: Name,
        space: u8,
    ) -> Vec<Entity> {
        let mut found: Vec<DefId> = Vec::new();
        for file in files {
            let facts = query.facts(file);
            let bound = facts.bound_in(0, name).iter().copied();
            found.extend(
                bound
                    .filter(|&index| {
                        let def = &facts.defs[index as usize];
                        def.space & space != 0 && def.kind != Kind::Import
                    })
                    .map(|index| DefId { file, index }),
            );
        }
        found.sort_by_key(|def| (self.rank(query, *def), *def));
        found.into_iter().map(Entity::Def).collect()
    }

    /// The import of a file that brings in a package of this name, although its path ends otherwise.
    fn import_named(&self, query: &Query<'_>, file: FileId, name: Name) -> Option<DefId> {
        let facts = query.facts(file);
        for import in &facts.imports {
            let Some(def) = facts.def(import.def) else { continue };
            if import.marks & import::EFFECT != 0 {
                continue;
            }
            // An alias is the first thing in an import; a name without one stands inside of the path.
            let has_alias = def.name_start == import.start;
            let Some(folder) = self.folder_of(facts.text(import.module)) else {
                // An external package may be called anything that its path contains.
                let path = facts.text(import.module);
                let is_part = path.split(['/', '-', '.']).any(|part| Name::of(part) == name);
                if is_part && !has_alias {
                    return Some(DefId { file, index: import.def });
                }
                continue;
            };
            if !has_alias && self.name_of_folder(query, folder).is_some_and(|known| Name::of(known) == name) {
                return Some(DefId { file, index: import.def });
            }
        }
        None
    }

    /// The name of the package in a folder, which its files say.
    fn name_of_folder<'q>(&self, query: &Query<'q>, folder: usize) -> Option<&'q str> {
        let files = self.folders[folder].files.iter();
        let mut plain = files.filter(|&&file| !query.world.path(file).ends_with("_test.go"));
        plain.next().map(|&file| Packages::package_name(query, file))
    }

    /// The type that holds a method: of one declared apart the type of its receiver.
    fn holder(query: &Query<'_>, method: DefId) -> Option<DefId> {
        let (facts, def) = query.def(method)?;
        let owner = facts.def(def.owner)?;
        if owner.kind != Kind::Impl {
            return Some(DefId { file: method.file, index: def.owner });
        }
        match query.shape(query.named_type(method.file, owner.declared)) {
            Shape::Instance(holder) => Some(holder),
            _ => None,
        }
    }

    /// Whether two methods take the same parameters and return the same, as far as the types are of the tree.
    fn agree(query: &Query<'_>, one: DefId, other: DefId) -> bool {
        let parameters = |method: DefId| -> Vec<Type> {
            let parts = query.facts(method.file).parts(method.index, Kind::Parameter);
            let types = parts.map(|index| query.def_type(DefId { file: method.file, index }));
            types.chain([query.return_type(method)]).collect()
        };
        let (one, other) = (parameters(one), parameters(other));
        let differ = |(one, other): (&Type, &Type)| {
            let named =
                |of: Type| matches!(query.shape(of), Shape::Instance(def) if !is_nameless(query, def));
            named(*one) && named(*other) && one != other
        };
        one.len() == other.len() && !one.iter().zip(&other).any(differ)
    }

    /// The methods of an interface with those it embeds; nothing if one of these is not in the tree.
    fn interface_methods(query: &Query<'_>, interface: DefId) -> Option<Vec<DefId>> {
        let mut methods = Vec::new();
        for one in query.ancestry(interface) {
            let facts = query.facts(one.file);
            methods.extend(facts.parts(one.index, Kind::Method).map(|index| DefId { file: one.file, index }));
        }
        Some(methods)
    }

    /// Whether a type has every method of an interface, with as many parameters.
    fn satisfies(query: &Query<'_>, holder: DefId, interface: DefId) -> bool {
        let of = query.make(Shape::Instance(holder), &[]);
        let Some(methods) = Packages::interface_methods(query, interface) else { return false };
        methods.iter().all(|&method| {
            let found = query.members(holder.file, of, query.name_of(method), crate::facts::space::ANY);
            found.iter().any(|member| match member.entity {
                Entity::Def(def) => {
                    let is_method = query.def(def).is_some_and(|(_, def)| def.kind == Kind::Method);
                    is_method && Packages::agree(query, def, method)
                }
                _ => false,
            })
        })
    }
}

impl Project for Packages {
    fn import(&self, query: &Query<'_>, file: FileId, index: u32) -> Vec<Entity> {
        let facts = query.facts(file);
        let Some(import) = facts.imports.get(index as usize) else { return Vec::new() };
        match self.folder_of(facts.text(import.module)) {
            Some(folder) => vec![Entity::Module(Module(folder as u64))],
            None => vec![Entity::External],
        }
    }

    fn outer(&self, query: &Query<'_>, place: Place, name: Name, space: u8) -> Vec<Entity> {
        let found = self.declared(query, self.siblings(query, place.file), name, space);
        if !found.is_empty() {
            return found;
        }
        if let Some(def) = self.import_named(query, place.file, name) {
            return vec![Entity::Def(def)];
        }
        let facts = query.facts(place.file);
        for import in facts.imports.iter().filter(|import| import.marks & import::GLOB != 0) {
            if let Some(folder) = self.folder_of(facts.text(import.module)) {
                let found = self.module_member(query, Module(folder as u64), name, space);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        let is_universal = |word: &str| Name::of(word) == name;
        if TYPES.iter().chain(&FUNCTIONS).any(|word| is_universal(word)) {
            return vec![Entity::External];
        }
        Vec::new()
    }

    fn module_member(&self, query: &Query<'_>, module: Module, name: Name, space: u8) -> Vec<Entity> {
        let Some(folder) = self.folders.get(module.0 as usize) else { return Vec::new() };
        let files = folder.files.iter().copied();
        let files = files.filter(|&file| !Packages::package_name(query, file).ends_with("_test"));
        self.declared(query, files, name, space)
    }

    fn sees_through_imports(&self) -> bool {
        false
    }

    /// A package may be called otherwise than the path ends by which it is imported.
    fn other_name(&self, query: &Query<'_>, def: DefId) -> Option<Name> {
        let (facts, known) = query.def(def)?;
        let import = facts.imports.iter().find(|import| import.def == def.index)?;
        if known.kind != Kind::Import || known.name_start == import.start {
            return None;
        }
        let name = Name::of(self.name_of_folder(query, self.folder_of(facts.text(import.module))?)?);
        (name != facts.name(known.name)).then_some(name)
    }

    fn detached_members(&self, query: &Query<'_>, of: Type, name: Name) -> Vec<DefId> {
        let mut found = Vec::new();
        let Shape::Instance(owner) = query.shape(of) else { return found };
        let Some(&folder) = self.of_file.get(&owner.file) else { return found };
        for posting in query.world.postings(name).iter().filter(|posting| posting.has_member()) {
            let file = posting.file();
            if self.of_file.get(&file) != Some(&folder) {
                continue;
            }
            let facts = query.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                let is_apart = facts.def(def.owner).is_some_and(|owner| owner.kind == Kind::Impl);
                if is_apart && facts.name(def.name) == name {
                    let method = DefId { file, index: index as u32 };
                    if Packages::holder(query, method) == Some(owner) {
                        found.push(method);
                    }
                }
            }
        }
        found.sort_by_key(|def| (self.rank(query, *def), *def));
        found
    }

    fn family(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let Some((facts, known)) = query.def(def) else { return Vec::new() };
        let name = facts.name(known.name);
        if known.kind != Kind::Method {
            // The same name in files for other systems.
            if known.scope == 0 && known.kind != Kind::Import {
                let space = known.space;
                let all = self.declared(query, self.siblings(query, def.file), name, space);
                return all
                    .into_iter()
                    .filter_map(|entity| if let Entity::Def(def) = entity { Some(def) } else { None })
                    .collect();
            }
            return Vec::new();
        }
        let Some(holder) = Packages::holder(query, def) else { return Vec::new() };
        // Of the types without a name only interfaces have methods.
        let is_interface = |def: DefId| {
            query.def(def).is_some_and(|(_, def)| matches!(def.kind, Kind::Interface | Kind::Anonymous))
        };
        let from_interface = is_interface(holder);
        let mut family = Vec::new();
        for other in query.members_named(query.world.language_of(def.file), name, 2_000) {
            if other == def || query.def(other).is_none_or(|(_, other)| other.kind != Kind::Method) {
                continue;
            }
            query.refuel();
            let Some(other_holder) = Packages::holder(query, other) else { continue };
            let related = match (from_interface, is_interface(other_holder)) {
                (true, _) if Packages::satisfies(query, other_holder, holder) => true,
                (_, true) => Packages::satisfies(query, holder, other_holder),
                _ => other_holder == holder,
            };
            if related {
                family.push(other);
            }
        }
        family
    }

    fn may_see(&self, query: &Query<'_>, file: FileId, def: DefId) -> bool {
        let is_public = query.def(def).is_some_and(|(_, def)| def.marks & mark::PUBLIC != 0);
        is_public || self.of_file.get(&file) == self.of_file.get(&def.file)
    }

    fn call(&self, query: &Query<'_>, callee: Type, arguments: &[Type]) -> Option<Type> {
        // A call that gives several values may be all the arguments of another.
        if let (Shape::Function(def), &[one]) = (query.shape(callee), arguments)
            && query.shape(one) == Shape::External(builtin::TUPLE)
            && query.arguments(one).len() > 1
        {
            return query.deeper(|| query.call(def.file, callee, &query.arguments(one)));
        }
        let Shape::External(name) = query.shape(callee) else { return None };
        let keeps = [Name::of("append"), Name::of("min"), Name::of("max")];
        if keeps.contains(&name) { arguments.first().copied() } else { None }
    }

    fn step(&self, query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
        let shape = query.shape(of);
        if let (Shape::Function(_) | Shape::Class(_), Step::Index) = (shape, step) {
            return Some(of);
        }
        let Shape::External(name) = shape else { return None };
        let arguments = query.arguments(of);
        let argument = |index: usize| Some(arguments.get(index).copied().unwrap_or(Type::EXTERNAL));
        let is = |text: &str| Name::of(text) == name;
        match step {
            Step::Element | Step::Key if is("chan") => argument(0),
            Step::Key if is("Seq") || is("Seq2") => argument(0),
            Step::Element if is("Seq2") => argument(1),
            Step::Key | Step::Element if name == builtin::FUNCTION => {
                let yields = *arguments.get(1)?;
                let index = usize::from(step == Step::Element) + 1;
                query.arguments(yields).get(index).copied()
            }
            _ => None,
        }
    }

    fn is_common_member(&self, name: &str) -> bool {
        COMMON.contains(&name)
    }

    fn rank(&self, query: &Query<'_>, def: DefId) -> u32 {
        let is_built = query.facts(def.file).bits & 1 != 0;
        u32::from(!is_built)
    }

    fn module_of(&self, _query: &Query<'_>, file: FileId) -> Option<Module> {
        self.of_file.get(&file).map(|&folder| Module(folder as u64))
    }

    fn module_name<'q>(&self, query: &Query<'q>, file: FileId) -> Option<&'q str> {
        Some(Packages::package_name(query, file))
    }

    fn module_file(&self, module: Module) -> Option<FileId> {
        self.folders.get(module.0 as usize)?.files.first().copied()
    }
}

fn is_nameless(query: &Query<'_>, def: DefId) -> bool {
    query.def(def).is_none_or(|(_, def)| def.kind == Kind::Anonymous)
}
