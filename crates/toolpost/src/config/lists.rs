//! The last lists of tools of other servers, in one file of the user's data. What cannot be read or written is as if
//! nothing had been kept: the servers tell it again.

use super::private;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolpost_plugins::Lists;

/// Maximum number of lists that are kept; the oldest goes first.
const MOST_LISTS: usize = 64;

/// Maximum size of the file.
const MOST_BYTES: usize = 16 << 20;

/// The file of lists.
#[derive(Debug)]
pub(crate) struct ListFile(PathBuf);

impl ListFile {
    pub(crate) fn new(data: &Path) -> ListFile {
        ListFile(data.join("server-lists.json"))
    }

    fn read(&self) -> Map<String, Value> {
        let found = private::read(&self.0, MOST_BYTES).ok().flatten();
        // What others may change could offer their tools under the name of a server.
        let own = found.filter(|found| found.is_own && !found.is_open_to_others);
        own.and_then(|found| serde_json::from_slice(&found.bytes).ok()).unwrap_or_default()
    }
}

impl Lists for ListFile {
    fn load(&self) -> BTreeMap<String, Value> {
        self.read().into_iter().collect()
    }

    fn save(&self, key: &str, list: Value) {
        let _ = private::locked(&self.0, || {
            let mut all = self.read();
            if all.get(key) == Some(&list) {
                return Ok(());
            }
            // In the order in which they were kept.
            all.shift_remove(key);
            all.insert(key.to_owned(), list);
            while all.len() > MOST_LISTS {
                remove_oldest(&mut all);
            }
            let mut bytes = serde_json::to_vec(&all).unwrap_or_default();
            while bytes.len() > MOST_BYTES && !all.is_empty() {
                remove_oldest(&mut all);
                bytes = serde_json::to_vec(&all).unwrap_or_default();
            }
            private::replace(&self.0, &bytes)
        });
    }
}

fn remove_oldest(all: &mut Map<String, Value>) {
    if let Some(oldest) = all.keys().next().cloned() {
        all.shift_remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_lists_are_kept_and_a_broken_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = ListFile::new(folder.path());
        assert!(file.load().is_empty());
        for number in 0..MOST_LISTS + 2 {
            file.save(&format!("k{number}"), json!({"tools": [number]}));
        }
        let kept = file.load();
        assert_eq!(kept.len(), MOST_LISTS);
        assert!(!kept.contains_key("k1") && kept.contains_key("k2"));
        private::replace(&file.0, b"{").unwrap();
        assert!(file.load().is_empty());
        file.save("again", json!(1));
        assert_eq!(file.load().len(), 1);
    }
}
