-- Who goes on with a run: the number of the last attempt, and which process makes it.
CREATE TABLE holds (run TEXT PRIMARY KEY, attempt {number} NOT NULL, holder TEXT NOT NULL, at_ms {number} NOT NULL);
