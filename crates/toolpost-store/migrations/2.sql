-- What undo needs. Contents are kept once, beside those of virtual files.
INSERT INTO counters (name, last) VALUES ('changes', 0);

CREATE TABLE change_sets (
  number {number} PRIMARY KEY, workspace TEXT NOT NULL, session TEXT NOT NULL, call TEXT NOT NULL, at_ms {number} NOT NULL,
  kind TEXT NOT NULL, is_done {number} NOT NULL);
CREATE UNIQUE INDEX change_sets_call ON change_sets (workspace, call);
CREATE INDEX change_sets_session ON change_sets (workspace, session);
CREATE INDEX change_sets_time ON change_sets (at_ms);

CREATE TABLE changes (
  change_set {number} NOT NULL, number {number} NOT NULL, name TEXT NOT NULL, by_command {number} NOT NULL,
  before_state TEXT NOT NULL, before_hash TEXT, after_state TEXT NOT NULL, after_hash TEXT, undone_by {number}, takes TEXT,
  PRIMARY KEY (change_set, number));
CREATE UNIQUE INDEX changes_name ON changes (change_set, name);
CREATE INDEX changes_before ON changes (before_hash) WHERE before_hash IS NOT NULL;
CREATE INDEX changes_after ON changes (after_hash) WHERE after_hash IS NOT NULL;
CREATE INDEX changes_undone ON changes (undone_by) WHERE undone_by IS NOT NULL;
