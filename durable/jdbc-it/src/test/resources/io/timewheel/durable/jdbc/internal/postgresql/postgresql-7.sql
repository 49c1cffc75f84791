-- Prepares for the format 7 of UpgradeTest. A real format 7 replaces this file.
SET LOCAL lock_timeout = '1s';
ALTER TABLE timewheel_timer ADD COLUMN probe integer NOT NULL DEFAULT 0;
CREATE TABLE timewheel_probe (probe integer NOT NULL);
