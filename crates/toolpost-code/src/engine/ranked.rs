//! The ranking of all definitions, kept with the contents of the files that it was made from: as long as these are the same,
//! so is the ranking.

use std::sync::PoisonError;

use sha2::{Digest as _, Sha256};

use super::Engine;
use crate::answers::ranking::{Focus, Ranked};
use crate::facts::codec::{Damaged, Reader, Writer, unseal};
use crate::resolve::{DefId, Query};
use crate::world::World;

const MAGIC: [u8; 4] = *b"tpcr";
/// Maximum number of definitions that are kept. Those behind them are on no map.
const MOST: usize = 20_000;

/// What the files of a world hold.
type WorldState = [u8; 32];

/// A ranking and what it is of.
pub(super) struct StoredRanking {
    state: WorldState,
    most: usize,
    ranking: Vec<Ranked>,
}

impl Engine {
    /// The definitions of the tree by how much of its code leads to them, within a question to this engine. Without a
    /// focus it is computed once for each state of the files.
    #[must_use]
    pub fn ranking(&self, query: &Query<'_>, focus: &Focus) -> Vec<Ranked> {
        if !focus.files.is_empty() || !focus.names.is_empty() {
            return query.rank(focus);
        }
        let state = state_of(query.world);
        let mut kept = self.ranked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |kept: &&StoredRanking| kept.state == state && kept.most == focus.most;
        if let Some(known) = kept.as_ref().filter(is_it) {
            return known.ranking.clone();
        }
        let key = format!("ranking-{}", self.name);
        let bytes = self.source.cache.get(&key);
        let read = bytes.and_then(|bytes| read(&bytes, query.world).ok()).filter(|kept| is_it(&kept));
        let found = read.unwrap_or_else(|| {
            let mut ranking = query.rank(focus);
            ranking.truncate(MOST);
            let made = StoredRanking { state, most: focus.most, ranking };
            self.source.cache.put(&key, &write(&made, query.world));
            made
        });
        let ranking = found.ranking.clone();
        *kept = Some(found);
        ranking
    }
}

/// Paths and contents of all files, and the manifests.
fn state_of(world: &World) -> WorldState {
    let mut files: Vec<(&str, [u8; 16])> =
        world.files().map(|file| (world.path(file), world.records[file.0 as usize].content.0)).collect();
    files.sort_unstable();
    let mut hash = Sha256::new();
    let mut add = |path: &str, content: &[u8]| {
        hash.update((path.len() as u64).to_le_bytes());
        hash.update(path.as_bytes());
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    };
    files.iter().for_each(|(path, content)| add(path, content));
    world.manifests.iter().for_each(|(path, content)| add(path, content));
    hash.finalize().into()
}

fn write(kept: &StoredRanking, world: &World) -> Vec<u8> {
    let mut writer = Writer::headed();
    writer.bytes.extend_from_slice(&kept.state);
    writer.number(kept.most as u64);
    writer.number(kept.ranking.len() as u64);
    for one in &kept.ranking {
        writer.text(world.path(one.def.file));
        writer.number(u64::from(one.def.index));
        writer.number(one.share.to_bits());
        writer.number(u64::from(one.uses));
    }
    writer.seal(MAGIC)
}

fn read(bytes: &[u8], world: &World) -> Result<StoredRanking, Damaged> {
    let mut reader = Reader { bytes: unseal(MAGIC, bytes)? };
    let (state, rest) = reader.bytes.split_at_checked(32).ok_or(Damaged)?;
    reader.bytes = rest;
    let state: WorldState = state.try_into().map_err(|_| Damaged)?;
    let most = reader.number()? as usize;
    let mut ranking = Vec::new();
    for _ in 0..reader.count()? {
        let file = world.file(reader.text()?).ok_or(Damaged)?;
        let index = u32::try_from(reader.number()?).map_err(|_| Damaged)?;
        let share = f64::from_bits(reader.number()?);
        let uses = u32::try_from(reader.number()?).map_err(|_| Damaged)?;
        ranking.push(Ranked { def: DefId { file, index }, share, uses });
    }
    Ok(StoredRanking { state, most, ranking })
}
