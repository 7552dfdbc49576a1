//! The code engine of a workspace: the index of `toolpost-code` over the files that the policy shows, kept in the user's
//! cache directory. It is opened when it is first asked, and compared with the files at each question.

mod cache;
mod converted;
mod files;
mod freshness;
mod patterns;
mod target;

use cache::DiskCache;
use converted::{Sources, confidence, kind_of, role_of, shown};
use files::WorkspaceFiles;
use freshness::Freshness;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use target::Meant;
use toolpost_code::answers::ranking::Focus;
use toolpost_code::answers::symbol::documentation;
use toolpost_code::engine::Engine;
use toolpost_code::files::{Cache, NoCache};
use toolpost_code::resolve::{Confidence as Found, Entity, Query};
use toolpost_code::world::FileId;
use toolpost_core::code::{
    Answer, CodeEngine, Coverage, Dependencies, Description, Export, Import, Inquiry, Links, Match,
    Reference, References, Resolution, Symbol, SymbolQuery, Target,
};
use toolpost_core::text::hex;
use toolpost_core::{Code, Policy, ToolError, Workspace};

/// Maximum number of identifiers that a ranking looks at.
const MOST_RANKED: usize = 1_000_000;
/// Maximum number of definitions that are looked at for a search.
const MOST_SEARCHED: usize = 5_000;

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
        let coverage = freshness.refresh(inquiry.ctx)?;
        let answer = freshness.engine().ask(|query| {
            question(&Asked { query, inquiry, sources: Sources::new(Arc::clone(&self.files)) })
        })?;
        Ok((answer, coverage))
    }
}

/// One question to one state of the index.
struct Asked<'a, 'w> {
    query: &'a Query<'w>,
    inquiry: &'a Inquiry<'a>,
    sources: Sources,
}

impl Asked<'_, '_> {
    /// Whether a file may be in the answer, and lies at or below a path.
    fn shows(&self, file: FileId, path: &str) -> bool {
        let name = self.query.world.path(file);
        is_at_or_below(name, path) && (self.inquiry.shows)(name)
    }

    /// The file of a name; an error where the index has none.
    fn file(&self, name: &str) -> Result<FileId, ToolError> {
        self.query.world.file(name).ok_or_else(|| {
            let known: Vec<&str> = toolpost_code::languages::all().iter().map(|one| one.name()).collect();
            let message = format!(
                "`{name}` is not in the index, which has files in {} of at most 4 MB that git does not ignore; \
                 search its text instead",
                known.join(", ")
            );
            ToolError::new(Code::NoMatch, message).with("path", name)
        })
    }

    fn symbol(&self, def: toolpost_code::resolve::DefId) -> Option<Symbol> {
        let symbol = self.query.symbol(def)?;
        (self.inquiry.shows)(&symbol.path).then(|| shown(&self.sources, &symbol))
    }

    fn reference(&self, found: &toolpost_code::resolve::Reference) -> Option<Reference> {
        let facts = self.query.facts(found.file);
        let token = facts.token(found.token)?;
        let (line, column) = facts.position(token.start);
        Some(Reference {
            file: self.query.world.path(found.file).to_owned(),
            line,
            column,
            role: role_of(token.role).to_owned(),
            confidence: confidence(found.confidence)?,
        })
    }
}

fn is_at_or_below(name: &str, path: &str) -> bool {
    path == "." && !name.starts_with('/')
        || name == path
        || name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

impl CodeEngine for WorkspaceEngine {
    fn symbols(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery) -> Answer<Symbol> {
        self.ask(inquiry, |asked| {
            let (container, name) = target::split(&query.text);
            let hits = asked.query.search(name, (query.limit * 20).clamp(200, MOST_SEARCHED));
            let mut found = Vec::new();
            for hit in hits {
                inquiry.ctx.checkpoint()?;
                if found.len() >= query.limit {
                    break;
                }
                if !asked.shows(hit.def.file, &query.path) {
                    continue;
                }
                let Some(symbol) = asked.query.symbol(hit.def) else { continue };
                let language = asked.query.world.language(hit.def.file).name();
                let is_wanted = query.kind.as_deref().is_none_or(|kind| is_kind(kind, kind_of(symbol.kind)))
                    && query.language.as_deref().is_none_or(|wanted| is_language(wanted, language))
                    && target::is_inside(&symbol.container, &symbol.path, &container);
                if is_wanted {
                    found.push(shown(&asked.sources, &symbol));
                }
            }
            Ok(found)
        })
    }

    fn matches(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery) -> Answer<Match> {
        self.ask(inquiry, |asked| patterns::find(asked, query))
    }

    fn map(&self, inquiry: &Inquiry<'_>, query: &SymbolQuery, focus: &[String]) -> Answer<Symbol> {
        self.ask(inquiry, |asked| {
            let file_of = |name: &String| asked.query.world.file(name.trim_start_matches("./"));
            let focus = Focus {
                files: focus.iter().filter_map(file_of).collect(),
                names: focus.iter().filter(|name| file_of(name).is_none()).cloned().collect(),
                most: MOST_RANKED,
            };
            let mut found = Vec::new();
            for ranked in asked.query.rank(&focus) {
                inquiry.ctx.checkpoint()?;
                if found.len() >= query.limit {
                    break;
                }
                if asked.shows(ranked.def.file, &query.path) {
                    found.extend(asked.symbol(ranked.def));
                }
            }
            Ok(found)
        })
    }

    fn describe(&self, inquiry: &Inquiry<'_>, target: &Target) -> Answer<Description> {
        self.ask(inquiry, |asked| {
            let mut described = Vec::new();
            for def in target::definitions(asked, target)?.into_iter().take(8) {
                inquiry.ctx.checkpoint()?;
                let Some(known) = asked.query.symbol(def) else { continue };
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
                    symbol: shown(&asked.sources, &known),
                });
            }
            Ok(described)
        })
    }

    fn links(&self, inquiry: &Inquiry<'_>, file: &str) -> Result<Links, ToolError> {
        let ((imports, exports), coverage) = self.ask(inquiry, |asked| {
            let id = asked.file(file)?;
            let mut imports: Vec<Import> = Vec::new();
            for found in asked.query.imports(id) {
                let target = found
                    .files
                    .iter()
                    .map(|file| asked.query.world.path(*file))
                    .find(|name| (inquiry.shows)(name));
                let target = target.map(str::to_owned);
                let name = match (found.is_glob, found.name, found.alias) {
                    (true, ..) => Some("*".to_owned()),
                    (_, Some(name), Some(alias)) => Some(format!("{name} as {alias}")),
                    (_, name, None) => name,
                    (_, None, Some(alias)) => Some(format!("as {alias}")),
                };
                // Names of one module on one line belong together.
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
            let exports = asked.query.exports(id).into_iter().map(|(name, def)| {
                let symbol = def.and_then(|def| asked.query.symbol(def));
                let is_own = symbol.as_ref().is_some_and(|symbol| symbol.def.file == id);
                let from = symbol.as_ref().filter(|symbol| !is_own && (inquiry.shows)(&symbol.path));
                Export {
                    name,
                    kind: symbol.as_ref().map_or("name", |symbol| kind_of(symbol.kind)).to_owned(),
                    line: symbol.as_ref().filter(|_| is_own).map_or(1, |symbol| symbol.position.0),
                    from: from.map(|symbol| symbol.path.clone()),
                }
            });
            Ok((imports, exports.collect()))
        })?;
        Ok(Links { imports, exports, coverage })
    }

    fn dependencies(&self, inquiry: &Inquiry<'_>, path: &str) -> Result<Dependencies, ToolError> {
        let ((files, edges), coverage) = self.ask(inquiry, |asked| {
            let wanted: Vec<FileId> =
                asked.query.world.files().filter(|file| asked.shows(*file, path)).collect();
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
            asked.query.refuel();
            let found = asked.query.resolve(file, token);
            let mut symbols: Vec<Symbol> = Vec::new();
            for entity in &found.entities {
                match entity {
                    Entity::Def(def) => symbols.extend(asked.symbol(*def)),
                    Entity::Module(_) => {
                        let module =
                            asked.query.file_of(file, *entity).map(|file| asked.query.world.path(file));
                        symbols.extend(module.filter(|name| (inquiry.shows)(name)).map(converted::module));
                    }
                    Entity::External => {}
                }
            }
            let is_external = found.entities.contains(&Entity::External) && symbols.is_empty();
            if is_external {
                return Ok(nothing(Some(target.symbol.clone())));
            }
            let confidence = confidence(found.confidence).filter(|_| !symbols.is_empty());
            let is_sure = found.confidence < Found::Possible && !symbols.is_empty();
            let candidates = if is_sure { symbols.split_off(1) } else { std::mem::take(&mut symbols) };
            let definition = symbols.into_iter().next();
            Ok(Resolution { definition, confidence, candidates, ..nothing(None) })
        })?;
        resolution.coverage = coverage;
        Ok(resolution)
    }

    fn references(&self, inquiry: &Inquiry<'_>, target: &Target) -> Result<References, ToolError> {
        let (found, mut coverage) = self.ask(inquiry, |asked| {
            let Meant { defs, note } = target::meant(asked, target)?;
            let (mut references, mut possible) = (Vec::new(), Vec::new());
            let path = target.path.as_deref();
            let shows = |file: FileId| match path {
                Some(path) => asked.shows(file, path),
                None => (inquiry.shows)(asked.query.world.path(file)),
            };
            for def in &defs {
                inquiry.ctx.checkpoint()?;
                let found = asked.query.references(*def);
                references.extend(
                    found.found.iter().filter(|one| shows(one.file)).filter_map(|one| asked.reference(one)),
                );
                possible.extend(
                    found
                        .possible
                        .iter()
                        .filter(|one| shows(one.file))
                        .filter_map(|one| asked.reference(one)),
                );
            }
            let place = |one: &Reference| (one.file.clone(), one.line, one.column, one.confidence);
            references.sort_by_key(place);
            references.dedup_by_key(|one| (one.file.clone(), one.line, one.column));
            possible.sort_by_key(place);
            possible.dedup_by_key(|one| (one.file.clone(), one.line, one.column));
            let definitions = defs.iter().filter_map(|def| asked.symbol(*def)).collect();
            Ok((definitions, references, possible, note))
        })?;
        let (definitions, references, possible, note) = found;
        coverage.complete &= possible.is_empty();
        coverage.note = match (coverage.note, note) {
            (Some(first), Some(second)) => Some(format!("{first}; {second}")),
            (first, second) => first.or(second),
        };
        Ok(References { definitions, references, possible, coverage })
    }
}

/// Whether a kind is meant by a word: `class` means every type, `function` methods too.
fn is_kind(wanted: &str, kind: &str) -> bool {
    let wanted = wanted.to_lowercase();
    match wanted.as_str() {
        "function" | "func" | "fn" => matches!(kind, "function" | "method"),
        "type" | "class" => {
            matches!(kind, "class" | "struct" | "enum" | "union" | "interface" | "trait" | "type")
        }
        "const" => kind == "constant",
        "var" => kind == "variable",
        "property" => kind == "field",
        "namespace" => kind == "module",
        other => other == kind,
    }
}

/// Whether a language is meant by a word.
fn is_language(wanted: &str, language: &str) -> bool {
    let wanted = wanted.to_lowercase();
    let usual = match wanted.as_str() {
        "ts" | "tsx" | "javascript" | "js" | "jsx" => "typescript",
        "py" => "python",
        "rs" => "rust",
        "golang" => "go",
        other => other,
    };
    usual == language || wanted == language
}
