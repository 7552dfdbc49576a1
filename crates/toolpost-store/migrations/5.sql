-- When each name was first touched, in microseconds since 1970, and what commands have touched and put back. What is put back is
-- no change: it says that others, who came meanwhile, have seen a state in the middle of the command.
ALTER TABLE changes ADD COLUMN touched_us {number} NOT NULL DEFAULT 0;
ALTER TABLE changes ADD COLUMN is_put_back {number} NOT NULL DEFAULT 0;
