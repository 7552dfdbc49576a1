//! From an entry to a server that can be started: variables put in, everything checked that would fail later and
//! say less.

use super::entry::{Entry, Written};
use super::expand::{Surroundings, expand, place, wanted};
use crate::config::private;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toolpost_core::text::LARGEST;
use toolpost_plugins::{Hints, Reach, Server};
use toolpost_process::StartCheck;

impl Entry {
    /// The server, or why it cannot be used. What was odd goes into `notes`.
    pub(super) fn resolve(
        &self,
        origin: String,
        usual: Hints,
        around: &Surroundings<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Server, String> {
        let way = self.format.words().way;
        let mut put_in = |text: &str| expand(way, text, around, notes);
        let reach = match self.reach.clone()? {
            Written::Stdio { words, environment, handed_on, file, cwd } => {
                let mut words =
                    words.iter().map(|word| put_in(word)).collect::<Result<Vec<_>, _>>()?.into_iter();
                let mut env = BTreeMap::new();
                if let Some(file) = file {
                    env.extend(variables_in(&put_in(&file)?, around)?);
                }
                for name in handed_on {
                    env.extend(around.variables.get(&name).map(|value| (name, value.clone())));
                }
                for (name, value) in environment {
                    env.insert(name, put_in(&value)?);
                }
                let cwd = cwd.map(|cwd| put_in(&cwd)).transpose()?;
                Reach::Stdio {
                    command: words.next().unwrap_or_default(),
                    args: words.collect(),
                    env,
                    cwd: cwd.map(|cwd| place(&cwd, around.home, around.root)),
                }
            }
            Written::Http { url, headers, from_variables } => {
                let mut all = BTreeMap::new();
                for (name, value) in headers {
                    all.insert(name, put_in(&value)?);
                }
                for (header, before, variable) in from_variables {
                    let value = around.variables.get(&variable);
                    let value =
                        value.ok_or_else(|| format!("the variable `{variable}` is not set; set it"))?;
                    all.insert(header, format!("{before}{value}"));
                }
                Reach::Http { url: put_in(&url)?, headers: all }
            }
        };
        check(&reach)?;
        Ok(Server {
            name: self.name.clone(),
            reach,
            start: self.start,
            call: self.call,
            only: self.only.clone(),
            without: self.without.clone(),
            hints: self.hints.unwrap_or(usual),
            origin,
            check: StartCheck::default(),
        })
    }

    /// The files that are read to make up its variables and words.
    pub(super) fn files(&self, around: &Surroundings<'_>) -> Vec<PathBuf> {
        let Ok(Written::Stdio { words, environment, file, cwd, .. }) = &self.reach else { return Vec::new() };
        let way = self.format.words().way;
        let texts = words.iter().chain(environment.iter().map(|(_, value)| value)).chain(cwd);
        let named = texts.flat_map(|text| wanted(way, text));
        let mut files: Vec<PathBuf> = named
            .filter_map(|name| Some(place(name.strip_prefix("file:")?, around.home, around.folder)))
            .collect();
        let file = file.as_ref().and_then(|file| expand(way, file, around, &mut Vec::new()).ok());
        files.extend(file.map(|file| place(&file, around.home, around.root)));
        files
    }
}

/// What no system would take.
fn check(reach: &Reach) -> Result<(), String> {
    let has_nul = |text: &str| text.contains('\0');
    match reach {
        Reach::Stdio { command, args, env, cwd } => {
            if command.is_empty() {
                return Err("its `command` is empty once variables are put in".to_owned());
            }
            let cwd = cwd.as_ref().map(|cwd| cwd.to_string_lossy());
            let texts = args.iter().chain(env.values()).map(String::as_str).chain([command.as_str()]);
            if texts.chain(cwd.as_deref()).any(has_nul) {
                return Err(
                    "a NUL stands in its command, arguments, variables or folder; remove it".to_owned()
                );
            }
            match env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
                Some(name) => Err(format!("`{}` is not a valid variable name", name.escape_debug())),
                None => Ok(()),
            }
        }
        Reach::Http { url, headers } => {
            let after = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            let is_sound = after.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#']))
                && !url.contains(|c: char| c.is_control() || c.is_whitespace());
            if !is_sound {
                return Err("its address is none of http:// or https://; write the whole address".to_owned());
            }
            let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if let Some(name) = headers.keys().find(|name| name.is_empty() || !name.chars().all(is_token)) {
                return Err(format!("`{}` is not a valid header name", name.escape_debug()));
            }
            let is_odd = |value: &String| value.contains(|c: char| c.is_control() && c != '\t');
            match headers.iter().find(|(_, value)| is_odd(value)) {
                Some((name, _)) => {
                    Err(format!("the header `{name}` has a line break or control character in it"))
                }
                None => Ok(()),
            }
        }
    }
}

/// The variables in a file of lines `NAME=value`.
fn variables_in(file: &str, around: &Surroundings<'_>) -> Result<Vec<(String, String)>, String> {
    let place = place(file, around.home, around.root);
    let shown = place.display();
    let file = private::read(&place, LARGEST).map_err(|why| format!("its `envFile` {shown} {why}"))?;
    let bytes = file.ok_or_else(|| format!("its `envFile` {shown} does not exist"))?.bytes;
    let text = String::from_utf8(bytes).map_err(|_| format!("its `envFile` {shown} is not valid UTF-8"))?;
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let pairs = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let bare = |text: &str| {
        let text = text.trim();
        let inside = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
        inside.unwrap_or(text).to_owned()
    };
    Ok(pairs
        .map(|(name, value)| (name.trim().trim_start_matches("export ").trim().to_owned(), bare(value)))
        .filter(|(name, _)| !name.is_empty())
        .collect())
}
