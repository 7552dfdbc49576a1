-- How a content is kept that is not whole in `contents`: as the first `head` bytes of `base`, its own bytes, and the last `tail`
-- bytes of `base`. `links` counts the differences that are applied to read it. Large own bytes of a SQLite store are in a file of
-- the folder beside it, which has the name `file` and `file_bytes` bytes; in `contents` there are none then.
CREATE TABLE parts (
  hash TEXT PRIMARY KEY, base TEXT, head {number} NOT NULL, tail {number} NOT NULL, links {number} NOT NULL, file TEXT,
  file_bytes {number} NOT NULL);
CREATE INDEX parts_base ON parts (base) WHERE base IS NOT NULL;
CREATE INDEX parts_file ON parts (file, file_bytes) WHERE file IS NOT NULL;
