//! The index as bytes: the table of files and the postings. Facts are kept apart, by content.

use std::sync::Arc;

use crate::facts::codec::{Damaged, Reader, Writer, unseal};
use crate::language::Language;
use crate::postings::Postings;
use crate::world::{ContentHash, FileId, Loader, Record, Stamp, World};

const MAGIC: [u8; 4] = *b"tpci";

pub(super) fn key(name: &str) -> String {
    format!("index-{name}")
}

pub(super) fn write(world: &World, manifest_stamps: &[(String, Stamp)]) -> Vec<u8> {
    let mut writer = Writer::headed();
    writer.number(world.languages.len() as u64);
    for language in &world.languages {
        writer.text(language.name());
    }
    writer.number(world.records.len() as u64);
    for record in &world.records {
        writer.text(&record.path);
        writer.number(u64::from(record.language));
        writer.number(record.stamp.size);
        writer.number(record.stamp.mark);
        writer.bytes.extend_from_slice(&record.content.0);
        writer.number(u64::from(record.is_gone));
    }
    writer.number(manifest_stamps.len() as u64);
    for (path, stamp) in manifest_stamps {
        writer.text(path);
        writer.number(stamp.size);
        writer.number(stamp.mark);
    }
    writer.number(world.manifests.len() as u64);
    for (path, content) in &world.manifests {
        writer.text(path);
        writer.text(&String::from_utf8_lossy(content));
    }
    world.postings.write(&mut writer);
    writer.seal(MAGIC)
}

type Saved = (World, Vec<(String, Stamp)>);

pub(super) fn read(
    bytes: &[u8],
    languages: Vec<&'static dyn Language>,
    loader: Arc<dyn Loader>,
) -> Result<Saved, Damaged> {
    let mut reader = Reader { bytes: unseal(MAGIC, bytes)? };
    let count = reader.count()?;
    if count != languages.len() {
        return Err(Damaged);
    }
    for language in &languages {
        if reader.text()? != language.name() {
            return Err(Damaged);
        }
    }
    let known = languages.len() as u64;
    let mut world = World::empty(languages, Some(loader));
    for index in 0..reader.count()? {
        let path = reader.text()?.to_owned();
        let language = reader.number()?;
        let stamp = Stamp { size: reader.number()?, mark: reader.number()? };
        let (hash, rest) = reader.bytes.split_at_checked(16).ok_or(Damaged)?;
        reader.bytes = rest;
        let mut content = ContentHash::default();
        content.0.copy_from_slice(hash);
        let is_gone = reader.number()? != 0;
        if language >= known {
            return Err(Damaged);
        }
        if !is_gone {
            world.paths.insert(path.clone(), FileId(index as u32));
        }
        let language = language as u8;
        world.records.push(Record { path, language, stamp, content, is_gone, ..Record::default() });
    }
    let mut stamps = Vec::new();
    for _ in 0..reader.count()? {
        let path = reader.text()?.to_owned();
        stamps.push((path, Stamp { size: reader.number()?, mark: reader.number()? }));
    }
    for _ in 0..reader.count()? {
        let (path, content) = (reader.text()?.to_owned(), reader.text()?.as_bytes().to_vec());
        world.manifests.push((path, content));
    }
    world.postings = Postings::read(&mut reader)?;
    Ok((world, stamps))
}
