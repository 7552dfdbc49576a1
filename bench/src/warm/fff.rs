//! `fff-search` with its list of files in memory, without its index of contents and without watching for changes.

use super::Search;
use crate::search::case::{Case, Kind, Shown};
use anyhow::{Result, anyhow, ensure};
use fff_search::file_picker::{FilePicker, FilePickerOptions};
use fff_search::{GrepMode, GrepSearchOptions, parse_grep_query};

pub(super) struct Subject(FilePicker);

impl Subject {
    pub(super) fn new(corpus: &str) -> Result<Subject> {
        let options =
            FilePickerOptions { base_path: corpus.to_owned(), watch: false, ..FilePickerOptions::default() };
        let mut picker = FilePicker::new(options).map_err(|error| anyhow!("{error}"))?;
        picker.collect_files().map_err(|error| anyhow!("{error}"))?;
        Ok(Subject(picker))
    }
}

impl Search for Subject {
    fn search(&self, case: &Case) -> Result<u64> {
        let options = GrepSearchOptions {
            // As much as ours shows.
            page_limit: if case.shown == Shown::Counts { usize::MAX } else { 200 },
            max_matches_per_file: 0,
            smart_case: false,
            mode: if case.kind == Kind::Regex { GrepMode::Regex } else { GrepMode::PlainText },
            ..GrepSearchOptions::default()
        };
        let found = self.0.grep(&parse_grep_query(case.pattern), &options);
        ensure!(
            !found.literal_fallback && found.regex_fallback_error.is_none(),
            "fff-search read `{}` otherwise",
            case.pattern
        );
        Ok(found.files_with_matches as u64)
    }
}
