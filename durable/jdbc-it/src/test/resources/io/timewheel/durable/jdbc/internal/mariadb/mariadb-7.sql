-- Prepares for the format 7 of UpgradeTest. A real format 7 replaces this file.
-- DDL ends a transaction on MariaDB, so each statement can be repeated.
ALTER TABLE timewheel_timer WAIT 1 ADD COLUMN IF NOT EXISTS probe int NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS timewheel_probe (probe int NOT NULL) ENGINE = InnoDB;
