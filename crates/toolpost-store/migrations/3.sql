-- A content may be kept as a part of another one: the first `head` bytes of `base`, its own bytes, and the last `tail` bytes
-- of `base`. `links` counts how many rows such a chain has below this one. Large bytes of a SQLite store are in a file of
-- the folder beside it, which has the name `file` and `file_bytes` bytes; the column `content` is empty then.
ALTER TABLE contents ADD COLUMN base TEXT;
ALTER TABLE contents ADD COLUMN head {number} NOT NULL DEFAULT 0;
ALTER TABLE contents ADD COLUMN tail {number} NOT NULL DEFAULT 0;
ALTER TABLE contents ADD COLUMN links {number} NOT NULL DEFAULT 0;
ALTER TABLE contents ADD COLUMN file TEXT;
ALTER TABLE contents ADD COLUMN file_bytes {number} NOT NULL DEFAULT 0;
CREATE INDEX contents_base ON contents (base) WHERE base IS NOT NULL;
CREATE INDEX contents_links ON contents (hash, links) WHERE base IS NOT NULL;
CREATE INDEX contents_file ON contents (file, file_bytes) WHERE file IS NOT NULL;
