-- Prepares for the format 4 that UpgradeTest knows. A real one takes the place of this file.
-- DDL ends a transaction there: each statement may be repeated.
ALTER TABLE timewheel_timer WAIT 1 ADD COLUMN IF NOT EXISTS probe int NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS timewheel_probe (probe int NOT NULL) ENGINE = InnoDB;
