-- What sessions have last seen of files: by the SHA-256 of the file, or by its size and time, and its content where it is kept.
CREATE TABLE known_files (
  workspace TEXT NOT NULL, session TEXT NOT NULL, activation TEXT NOT NULL, name TEXT NOT NULL, mark TEXT NOT NULL,
  content_hash TEXT, bytes {number} NOT NULL, at_us {number} NOT NULL, PRIMARY KEY (workspace, session, activation, name));
CREATE INDEX known_files_session ON known_files (session);
CREATE INDEX known_files_time ON known_files (at_us);
CREATE INDEX known_files_content ON known_files (content_hash) WHERE content_hash IS NOT NULL;
