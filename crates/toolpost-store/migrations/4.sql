-- New events of a SQLite store, as they come: what is in `log` has six indices, which cost more than the event itself. They are
-- moved there when somebody asks, and when there is nothing else to do.
CREATE TABLE fresh (
  position {number} PRIMARY KEY, session TEXT NOT NULL, sequence {number} NOT NULL, at_ms {number} NOT NULL,
  agent TEXT, call TEXT, kind TEXT NOT NULL, tool TEXT, code TEXT, micros {number}, bytes {number}, body TEXT NOT NULL);
