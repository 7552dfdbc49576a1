-- {bytes} and {number} are the database's own words.
CREATE TABLE counters (name TEXT PRIMARY KEY, last {number} NOT NULL);
INSERT INTO counters (name, last) VALUES ('log', 0), ('words', 0), ('tasks', 0);

-- Who has written what part of the log, so that nothing is written twice when an answer is lost.
CREATE TABLE writers (writer TEXT PRIMARY KEY, last {number} NOT NULL, at_ms {number} NOT NULL);

CREATE TABLE sessions (
  session TEXT PRIMARY KEY, first_ms {number} NOT NULL, last_ms {number} NOT NULL,
  events {number} NOT NULL, calls {number} NOT NULL, failures {number} NOT NULL);

CREATE TABLE log (
  position {number} PRIMARY KEY, session TEXT NOT NULL, sequence {number} NOT NULL, at_ms {number} NOT NULL,
  agent TEXT, call TEXT, kind TEXT NOT NULL, tool TEXT, code TEXT, micros {number}, bytes {number}, body TEXT NOT NULL);
CREATE UNIQUE INDEX log_session ON log (session, sequence);
CREATE INDEX log_time ON log (at_ms);
CREATE INDEX log_call ON log (call) WHERE call IS NOT NULL;
CREATE INDEX log_agent ON log (agent, position) WHERE agent IS NOT NULL;
CREATE INDEX log_tool ON log (tool, position) WHERE tool IS NOT NULL;
CREATE INDEX log_code ON log (code, position) WHERE code IS NOT NULL;

CREATE TABLE contents (hash TEXT PRIMARY KEY, content {bytes} NOT NULL);
CREATE TABLE files (
  session TEXT NOT NULL, path TEXT NOT NULL, version {number} NOT NULL, hash TEXT, size {number} NOT NULL,
  mode {number} NOT NULL, at_ms {number} NOT NULL, agent TEXT, call TEXT, PRIMARY KEY (session, path, version));
CREATE TABLE heads (
  session TEXT NOT NULL, path TEXT NOT NULL, version {number} NOT NULL, is_there {number} NOT NULL,
  PRIMARY KEY (session, path));

CREATE TABLE tasks (
  number {number} PRIMARY KEY, title TEXT NOT NULL, description TEXT NOT NULL, status TEXT NOT NULL, owner TEXT,
  claim {number} NOT NULL, result TEXT, reason TEXT, created_ms {number} NOT NULL, changed_ms {number} NOT NULL);
CREATE INDEX tasks_status ON tasks (status, number);
CREATE TABLE needs (task {number} NOT NULL, needed {number} NOT NULL, PRIMARY KEY (task, needed));
CREATE INDEX needs_needed ON needs (needed);

CREATE TABLE todos (session TEXT PRIMARY KEY, body TEXT NOT NULL, at_ms {number} NOT NULL);
