//! The code engine of a workspace: the index of `toolpost-code` over the files that the policy shows, kept in the user's
//! cache directory. It is opened when it is first asked, and compared with the files at each question.

mod cache;
mod converted;
mod coverage;
mod files;
mod freshness;
mod ignored;
mod links;
mod patterns;
mod target;
mod unread;
mod words;

use cache::DiskCache;
use converted::{Sources, confidence, kind_of, role_of};
use files::WorkspaceFiles;
use freshness::Freshness;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use toolpost_code::answers::place::{byte_of, column_of};
use toolpost_code::answers::ranking::Focus;
use toolpost_code::answers::search::SearchFilter;
use toolpost_code::answers::symbol::{Symbol as Known, documentation};
use toolpost_code::engine::Engine;
use toolpost_code::facts::{Kind, Name, Role};
use toolpost_code::files::{Cache, NoCache};
use toolpost_code::resolve::{Confidence as Found, DefId, Entity, Query};
use toolpost_code::world::FileId;
use toolpost_core::code::{
    Answer, CodeEngine, Confidence, Coverage, Dependencies, Description, Inquiry, Links, Match, Reference,
    References, Resolution, Symbol, SymbolQuery, Target,
};
use toolpost_core::text::hex;
use toolpost_core::{Code, Policy, ToolError, Workspace};

/// How long the uses of a name are looked for at most; an answer that lacks some by then says so.
const LONGEST_SEARCH: Duration = Duration::from_secs(10);
/// Maximum number of identifiers that a ranking looks at.
const MOST_RANKED: usize = 1_000_000;
/// Maximum number of definitions that are looked at for a search.
const MOST_SEARCHED: usize = 5_000;
/// Maximum number of definitions that are offered for a name that cannot be resolved.
const MOST_CANDIDATES: usize = 20;

/// The engine of one workspace.
pub(crate) struct WorkspaceEngine {
    files: Arc<WorkspaceFiles>,
    cache: Option<PathBuf>,
    name: String,
    open: OnceLock<Freshness>,
}

impl WorkspaceEngine {
    /// For the files of a workspace that a policy lets everybody read; what it finds out is kept below a folder.
    pub(crate) fn new(
        workspace: Arc<dyn Workspace>,
        policy: Policy,
        cache: Option<PathBuf>,
    ) -> WorkspaceEngine {
        // Whoever may see other files has another index.
        let identity = format!("{}\n{}", workspace.roots().join("\n"), policy.identity(&[]));
        let name = hex(&Sha256::digest(identity.as_bytes())[..16]);
        let files = Arc::new(WorkspaceFiles::new(workspace, policy));
        WorkspaceEngine { files, cache, name, open: OnceLock::new() }
    }

    /// Asks the index once it is as fresh as the time of the call allows.
    fn ask<T>(
        &self,
        inquiry: &Inquiry<'_>,
        question: impl FnOnce(&Asked<'_, '_>) -> Result<T, ToolError>,
    ) -> Result<(T, Coverage), ToolError> {
        let freshness = self.open.get_or_init(|| {
            let cache: Arc<dyn Cache> = match &self.cache {
                Some(folder) => Arc::new(DiskCache::new(folder.clone())),
                None => Arc::new(NoCache),
            };
            Freshness::new(Engine::open(Arc::clone(&self.files) as _, cache, &self.name))
        });
        let mut coverage = freshness.refresh(inquiry.ctx)?;
        let mut large = freshness.engine().too_large();
        large.retain(|name| (inquiry.shows)(name));
        let (answer, mut lacks, notes) = freshness.engine().ask(|query| {
            let left = inquiry.ctx.time_left().map_or(LONGEST_SEARCH, |left| left / 2);
            query.end_at(Instant::now() + left.min(LONGEST_SEARCH));
            let sources = Sources::new(Arc::clone(&self.files));
            let (lacks, notes) = (RefCell::default(), RefCell::default());
            let engine = freshness.engine();
            let asked = Asked { query, engine, inquiry, sources, large: &large, lacks, notes };
            let answer = question(&asked)?;
            Ok::<_, ToolError>((answer, asked.lacks.into_inner(), asked.notes.into_inner()))
        })?;
        if !large.is_empty() {
            let names: Vec<&str> = large.iter().map(String::as_str).collect();
            lacks.push(coverage::files("too large to be indexed", &names));
        }
        coverage::add(&mut coverage, lacks, notes);
        Ok((answer, coverage))
    }
}

/// One question to one state of the index.
struct Asked<'a, 'w> {
    query: &'a Query<'w>,
    engine: &'a Engine,
    inquiry: &'a Inquiry<'a>,
    sources: Sources,
    /// Files that are too large to be indexed.
    large: &'a [String],
    /// What the answer may lack, and what else should be said with it.
    lacks: RefCell<Vec<String>>,
    notes: RefCell<Vec<String>>,
}

impl Asked<'_, '_> {
    /// Whether a file may be in the answer, and lies at or below a path.
    fn shows(&self, file: FileId, path: &str) -> bool {
        let name = self.query.world.path(file);
        is_at_or_below(name, path) && (self.inquiry.shows)(name)
    }

    /// Says what the answer may lack.
    fn lack(&self, what: String) {
        self.lacks.borrow_mut().push(what);
    }

    /// Says something beside the answer.
    fn note(&self, what: String) {
        self.notes.borrow_mut().push(what);
    }

    /// The file of a name; an error where the index has none.
    fn file(&self, name: &str) -> Result<FileId, ToolError> {
        self.query.world.file(name).ok_or_else(|| {
            let language = toolpost_code::unread::sort_of(name).and_then(toolpost_code::unread::Sort::language);
            let read = unread::read_languages();
            let message = match (self.large.iter().any(|large| large == name), language) {
                (true, _) => format!("`{name}` is too large to be indexed; search its text instead"),
                (false, Some(language)) => {
                    format!("`{name}` is in {language}, which is not read; read are {read}; search its text instead")
                }
                (false, None) => format!(
                    "`{name}` is not in the index, which has files in {read} of at most 4 MB that git does not \
                     ignore; search its text instead"
                ),
            };
            ToolError::new(Code::NoMatch, message).with("path", name)
        })
    }

    /// Whether a definition cannot be used in any other file.
    fn is_of_file(&self, def: DefId) -> bool {
        let part = self.query.def(def).map(|(_, def)| def.kind);
        // A call names the parameters of Python.
        let is_part = matches!(part, Some(Kind::Parameter | Kind::TypeParameter))
            && self.query.world.language(def.file).name() != "python";
        is_part || self.query.is_local(def)
    }

    fn symbol(&self, def: DefId) -> Option<Symbol> {
        let symbol = self.query.symbol(def)?;
        (self.inquiry.shows)(&symbol.path).then(|| self.shown(&symbol))
    }

    fn shown(&self, known: &Known) -> Symbol {
        let column = self.column(known.def.file, known.position.0, known.position.1);
        converted::shown(&self.sources, known, column)
    }

    /// An entity as a symbol; none of what is outside or hidden.
    fn entity(&self, from: FileId, entity: Entity) -> Option<Symbol> {
        match entity {
            Entity::Def(def) => self.symbol(def),
            Entity::Module(_) => {
                let path = self.query.world.path(self.query.file_of(from, entity)?);
                (self.inquiry.shows)(path).then(|| converted::module(path))
            }
            Entity::External => None,
        }
    }

    /// Where an entity is: of a module that is a file of its own that file, and not the line that declares it.
    fn led_to(&self, from: FileId, entity: Entity) -> Option<Symbol> {
        let own = match entity {
            Entity::Def(def) => self.query.project(def.file).file_of(self.query, def),
            _ => None,
        };
        let Some(own) = own else { return self.entity(from, entity) };
        let path = self.query.world.path(own);
        (self.inquiry.shows)(path).then(|| converted::module(path))
    }

    fn reference(&self, found: &toolpost_code::resolve::Reference) -> Option<Reference> {
        let facts = self.query.facts(found.file);
        let token = facts.token(found.token)?;
        let (line, column) = self.position(found.file, token.start);
        // What an import binds is no definition of what it imports.
        let binds =
            |def: u32| facts.def(def).is_some_and(|def| def.kind == toolpost_code::facts::Kind::Import);
        let is_import = token.role == Role::Declaration && binds(token.target);
        let role = if is_import { Role::Import } else { token.role };
        Some(Reference {
            file: self.query.world.path(found.file).to_owned(),
            line,
            column,
            role: role_of(role).to_owned(),
            confidence: confidence(found.confidence)?,
        })
    }

    /// Line and column of a byte of a file, both from 1, the column in characters.
    fn position(&self, file: FileId, offset: u32) -> (u32, u32) {
        let (line, byte) = self.query.facts(file).position(offset);
        (line, self.column(file, line, byte))
    }

    fn column(&self, file: FileId, line: u32, byte: u32) -> u32 {
        self.with_line(file, line, byte, |text| column_of(text, byte))
    }

    /// The byte of a line at which a column begins.
    fn byte_column(&self, file: FileId, line: u32, column: u32) -> u32 {
        self.with_line(file, line, column, |text| byte_of(text, column))
    }

    /// Asks the bytes of a line; where characters are bytes, the answer is `plain`.
    fn with_line(&self, file: FileId, line: u32, plain: u32, ask: impl FnOnce(&[u8]) -> u32) -> u32 {
        let facts = self.query.facts(file);
        let (Some(start), false) = (facts.line_start(line), facts.is_ascii()) else { return plain };
        let text = self.sources.text(self.query.world.path(file));
        let end = facts.line_start(line + 1).map_or(text.len(), |end| end as usize);
        // A file that has changed in this moment may have no such line any more.
        text.as_bytes().get(start as usize..end).map_or(plain, ask)
    }
}

fn is_at_or_below(name: &str, path: &str) -> bool {
    path == "." && !name.starts_with('/')
        || name == path
        || name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

impl CodeEngine for WorkspaceEngine {
    fn symbols(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery) -> Answer<Symbol> {
        words::check(query)?;
        self.ask(inquiry, |asked| {
            asked.lacks_broken(&query.path);
            asked.lacks_ignored();
            if query.language.is_none() {
                asked.lacks_unread(&query.path);
            }
            let (container, name) = target::split(&query.text);
            let may_hold = target::may_hold(asked, &container);
            let in_file = |file: FileId| {
                let language = asked.query.world.language(file).name();
                asked.shows(file, &query.path)
                    && query.language.as_deref().is_none_or(|wanted| words::is_language(wanted, language))
                    && may_hold(file)
            };
            let is_wanted = |def: DefId| {
                if container.is_empty() && query.kind.is_none() {
                    return true;
                }
                asked.query.symbol(def).is_some_and(|symbol| {
                    let kind = kind_of(symbol.kind);
                    let module = asked.query.module_name(def.file);
                    query.kind.as_deref().is_none_or(|wanted| words::is_kind(wanted, kind))
                        && target::is_inside(&symbol.container, &symbol.path, module, &container)
                })
            };
            let wanted = SearchFilter { file: &in_file, def: &is_wanted };
            let most = (query.limit * 2).clamp(200, MOST_SEARCHED);
            let hits = asked.query.search_for(name, most, &wanted);
            if hits.is_cut {
                asked.lack(
                    "too many names are like it to look at all of them; give more of the name".to_owned(),
                );
            }
            let mut found = Vec::new();
            for hit in hits.list {
                inquiry.ctx.checkpoint()?;
                if found.len() >= query.limit {
                    break;
                }
                found.extend(asked.symbol(hit.def).filter(|symbol| !is_of_loop(symbol)));
            }
            Ok(found)
        })
    }

    fn matches(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery) -> Answer<Match> {
        words::check(query)?;
        self.ask(inquiry, |asked| {
            asked.lacks_broken(&query.path);
            asked.lacks_ignored();
            if query.language.is_none() {
                asked.lacks_unread(&query.path);
            }
            patterns::find(asked, query)
        })
    }

    fn map(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery, focus: &[String]) -> Answer<Symbol> {
        self.ask(inquiry, |asked| {
            asked.lacks_broken(&query.path);
            asked.lacks_ignored();
            asked.lacks_unread(&query.path);
            let file_of = |name: &String| asked.query.world.file(name.trim_start_matches("./"));
            let is_known = |name: &&String| {
                file_of(name).is_some()
                    || asked
                        .query
                        .world
                        .files()
                        .any(|file| is_at_or_below(asked.query.world.path(file), name))
                    || !asked.query.world.postings(Name::of(target::split(name).1)).is_empty()
            };
            let unknown: Vec<&String> = focus.iter().filter(|name| !is_known(name)).collect();
            if !unknown.is_empty() && unknown.len() == focus.len() {
                let message = format!("focus names no file or symbol that is known: {}", quoted(&unknown));
                return Err(ToolError::new(Code::NoMatch, message));
            }
            if !unknown.is_empty() {
                asked.note(format!("nothing is known of {}", quoted(&unknown)));
            }
            let in_folder = |file: FileId| {
                focus.iter().any(|name| is_at_or_below(asked.query.world.path(file), name) && name != ".")
            };
            let focus = Focus {
                files: focus
                    .iter()
                    .filter_map(file_of)
                    .chain(asked.query.world.files().filter(|file| in_folder(*file)))
                    .collect(),
                names: focus
                    .iter()
                    .filter(|name| file_of(name).is_none())
                    .map(|name| target::split(name).1.to_owned())
                    .collect(),
                most: MOST_RANKED,
            };
            let mut found = Vec::new();
            for ranked in asked.engine.ranking(asked.query, &focus) {
                inquiry.ctx.checkpoint()?;
                if found.len() >= query.limit {
                    break;
                }
                if asked.shows(ranked.def.file, &query.path) {
                    found.extend(asked.symbol(ranked.def).filter(|symbol| !is_of_loop(symbol)));
                }
            }
            Ok(found)
        })
    }

    fn describe(&self, inquiry: &Inquiry<'_>, target: &Target) -> Answer<Description> {
        self.ask(inquiry, |asked| {
            let mut described = Vec::new();
            asked.lacks_ignored();
            for def in target::definitions(asked, target)?.into_iter().take(8) {
                inquiry.ctx.checkpoint()?;
                let Some(known) = asked.query.symbol(def) else { continue };
                asked.lacks_broken_with(std::slice::from_ref(&known.name));
                if !asked.is_of_file(def) {
                    asked.lacks_unread_with(std::slice::from_ref(&known.name), ".");
                }
                let mut used_by: BTreeMap<&str, u64> = BTreeMap::new();
                for found in asked.query.references(def).found {
                    let is_declaration = asked.query.declared_by(found.file, found.token).is_some();
                    if !is_declaration && asked.shows(found.file, ".") {
                        *used_by.entry(asked.query.world.path(found.file)).or_default() += 1;
                    }
                }
                let mut used_by: Vec<(String, u64)> =
                    used_by.into_iter().map(|(file, count)| (file.to_owned(), count)).collect();
                used_by.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                let members = asked.query.own_members(def);
                described.push(Description {
                    doc: documentation(&asked.sources.text(&known.path), &known),
                    visibility: if known.is_public { "public" } else { "private" }.to_owned(),
                    members: members.into_iter().filter_map(|member| asked.symbol(member)).collect(),
                    used_by,
                    symbol: asked.shown(&known),
                });
            }
            Ok(described)
        })
    }

    fn links(&self, inquiry: &Inquiry<'_>, file: &str) -> Result<Links, ToolError> {
        let ((imports, exports), coverage) = self.ask(inquiry, |asked| {
            let id = asked.file(file)?;
            asked.lacks_if_broken(id);
            Ok((asked.imports(id), asked.exports(id)))
        })?;
        Ok(Links { imports, exports, coverage })
    }

    fn dependencies(&self, inquiry: &Inquiry<'_>, path: &str) -> Result<Dependencies, ToolError> {
        let ((files, edges), coverage) = self.ask(inquiry, |asked| {
            asked.lacks_broken(path);
            asked.lacks_ignored();
            asked.lacks_unread(path);
            let mut wanted: Vec<FileId> =
                asked.query.world.files().filter(|file| asked.shows(*file, path)).collect();
            wanted.sort_unstable_by_key(|&file| asked.query.world.path(file));
            let name = |file: FileId| asked.query.world.path(file).to_owned();
            let mut edges = Vec::new();
            for piece in wanted.chunks(256) {
                inquiry.ctx.checkpoint()?;
                edges.extend(asked.query.dependencies(piece));
            }
            let edges = edges
                .into_iter()
                .filter(|edge| asked.shows(edge.to, path))
                .map(|edge| (name(edge.from), name(edge.to), u64::from(edge.count)))
                .collect();
            Ok((wanted.iter().map(|file| name(*file)).collect(), edges))
        })?;
        Ok(Dependencies { files, edges, coverage })
    }

    fn resolve(&self, inquiry: &Inquiry<'_>, target: &Target) -> Result<Resolution, ToolError> {
        let (mut resolution, coverage) = self.ask(inquiry, |asked| {
            let nothing = |external| Resolution {
                definition: None,
                confidence: None,
                candidates: Vec::new(),
                external,
                coverage: Coverage { complete: true, note: None },
            };
            let Some((file, token)) = target::token(asked, target)? else { return Ok(nothing(None)) };
            let found = asked.query.definition(file, token);
            let entities = found.entities.iter();
            let mut symbols: Vec<Symbol> =
                entities.filter_map(|entity| asked.led_to(file, *entity)).collect();
            if found.entities.contains(&Entity::External) && symbols.is_empty() {
                asked.lacks_imported(file, &target.symbol);
                return Ok(nothing(Some(target.symbol.clone())));
            }
            if symbols.is_empty() {
                asked.lacks_if_broken(file);
                asked.lacks_imported(file, &target.symbol);
                let candidates = asked.candidates(file, token, &target.symbol);
                let confidence = (!candidates.is_empty()).then_some(Confidence::Possible);
                return Ok(Resolution { candidates, confidence, ..nothing(None) });
            }
            let is_sure = found.confidence < Found::Possible;
            let candidates = if is_sure { symbols.split_off(1) } else { std::mem::take(&mut symbols) };
            let definition = symbols.into_iter().next();
            let confidence = confidence(found.confidence);
            Ok(Resolution { definition, confidence, candidates, ..nothing(None) })
        })?;
        resolution.coverage = coverage;
        Ok(resolution)
    }

    fn references(&self, inquiry: &Inquiry<'_>, target: &Target) -> Result<References, ToolError> {
        let (found, mut coverage) = self.ask(inquiry, |asked| {
            let meant = target::meant(asked, target)?;
            asked.lacks_ignored();
            let (mut references, mut possible) = (Vec::new(), Vec::new());
            let path = target.path.as_deref();
            let shows = |file: FileId| match path {
                Some(path) => asked.shows(file, path),
                None => (inquiry.shows)(asked.query.world.path(file)),
            };
            let mut names = vec![target::split(&target.symbol).1.to_owned()];
            let mut definitions: Vec<Symbol> = Vec::new();
            for (file, entity) in &meant {
                inquiry.ctx.checkpoint()?;
                definitions.extend(asked.entity(*file, *entity));
                let found = asked.query.uses(*file, *entity);
                let shown = |list: &[toolpost_code::resolve::Reference]| -> Vec<Reference> {
                    let listed = list.iter().filter(|one| shows(one.file));
                    listed.filter_map(|one| asked.reference(one)).collect()
                };
                if found.is_cut {
                    asked.lack(
                        "the name is in too many files to look at all of them in the time there is"
                            .to_owned(),
                    );
                }
                references.extend(shown(&found.found));
                possible.extend(shown(&found.possible));
            }
            names.extend(definitions.iter().map(|symbol| symbol.name.clone()));
            asked.lacks_broken_with(&names);
            let is_local =
                |(_, entity): &(FileId, Entity)| matches!(entity, Entity::Def(def) if asked.is_of_file(*def));
            if !meant.iter().all(is_local) {
                asked.lacks_unread_with(&names, path.unwrap_or("."));
            }
            let place = |one: &Reference| (one.file.clone(), one.line, one.column, one.confidence);
            references.sort_by_key(place);
            references.dedup_by_key(|one| (one.file.clone(), one.line, one.column));
            possible.sort_by_key(place);
            possible.dedup_by_key(|one| (one.file.clone(), one.line, one.column));
            Ok((definitions, references, possible))
        })?;
        let (definitions, references, possible) = found;
        coverage.complete &= possible.is_empty();
        Ok(References { definitions, references, possible, coverage })
    }

    fn unread(&self, path: &str) -> Option<String> {
        unread::first_line(self.open.get()?.engine(), path)
    }

    fn held_back(&self) -> Vec<String> {
        self.files.hidden()
    }
}

impl Asked<'_, '_> {
    /// The definitions of the name that is asked for, in files of the same language: where it stands nothing says which of
    /// them is meant, if any.
    fn candidates(&self, file: FileId, token: u32, symbol: &str) -> Vec<Symbol> {
        let (_, name) = target::split(symbol);
        let language = self.query.world.language_of(file);
        let hits = self.query.named(name, MOST_CANDIDATES * 4);
        let same = hits.iter().filter(|hit| self.query.world.language_of(hit.def.file) == language);
        let same = same.filter(|hit| self.query.may_mean(file, token, hit.def));
        same.filter_map(|hit| self.symbol(hit.def)).take(MOST_CANDIDATES).collect()
    }
}

/// Whether a symbol is the variable of a loop: it is nothing that people would look for.
fn is_of_loop(symbol: &Symbol) -> bool {
    let text = symbol.signature.trim_start();
    let rest = text.strip_prefix("async ").unwrap_or(text).strip_prefix("for");
    symbol.kind == "variable" && rest.is_some_and(|rest| rest.starts_with([' ', '(']))
}

fn quoted(names: &[&String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
