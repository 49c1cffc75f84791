-- Format 6 of the tables of Timewheel, on MariaDB. All times are milliseconds since 1970, UTC.
-- CREATE ends a transaction on MariaDB. So the rows are inserted last, in one transaction, and tables
-- without rows have no format.

-- Properties of the data: the format in use, the newest format that it is prepared for, the number
-- of shards, and a unique number of these tables. Each transaction reads the format, and so has a
-- shared lock on the table. A transaction that pauses a scope locks the row 'pauses', because a
-- pause that does not exist cannot be locked.
CREATE TABLE IF NOT EXISTS timewheel_meta (
  name varchar(64) PRIMARY KEY,
  value bigint NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Versions of timers. A transaction takes a block, so that versions ascend across sessions.
CREATE SEQUENCE IF NOT EXISTS timewheel_version INCREMENT BY 4096 ENGINE = InnoDB;

-- Incarnations of nodes.
CREATE SEQUENCE IF NOT EXISTS timewheel_incarnation ENGINE = InnoDB;

-- Unfinished timers. A claim changes no indexed column. Each index ends with the primary key.
-- fire_at: the position in the due index, or null. spec, progress: see RecordCodec.
-- release_by: see Releasables. Only timers without fire_at have it, so both share an index.
CREATE TABLE IF NOT EXISTS timewheel_timer (
  version bigint NOT NULL,
  due_at bigint NOT NULL,
  fire_at bigint,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  revision bigint NOT NULL,
  shard int NOT NULL,
  attempt int NOT NULL,
  state smallint NOT NULL,
  flags smallint NOT NULL,
  namespace varbinary(256) NOT NULL,
  id varbinary(256) NOT NULL,
  handler varbinary(256) NOT NULL,
  spec mediumblob NOT NULL,
  progress mediumblob,
  payload mediumblob NOT NULL,
  release_by varbinary(257) GENERATED ALWAYS AS (CASE
    WHEN state = 5 THEN concat('=', handler)
    WHEN state = 6 AND flags & 4 = 0 THEN concat('*', namespace) END) STORED INVISIBLE,
  PRIMARY KEY (namespace, id),
  KEY timewheel_timer_due (shard, fire_at, release_by),
  KEY timewheel_timer_idle (fire_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Timers of queues that a consumer may claim, the longest ready first.
CREATE TABLE IF NOT EXISTS timewheel_ready (
  namespace varbinary(256) NOT NULL,
  queue varbinary(256) NOT NULL,
  ready_at bigint NOT NULL,
  id varbinary(256) NOT NULL,
  PRIMARY KEY (namespace, queue, ready_at, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Ready timers of handlers that the shard's owner does not have, the longest ready first. Nodes with
-- the handler claim its timers from all namespaces.
CREATE TABLE IF NOT EXISTS timewheel_handler_ready (
  handler varbinary(256) NOT NULL,
  ready_at bigint NOT NULL,
  namespace varbinary(256) NOT NULL,
  id varbinary(256) NOT NULL,
  PRIMARY KEY (handler, ready_at, namespace, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The history: finished timers, without their payloads. Purged timers are deleted.
CREATE TABLE IF NOT EXISTS timewheel_done (
  version bigint NOT NULL,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  revision bigint NOT NULL,
  attempt int NOT NULL,
  state smallint NOT NULL,
  flags smallint NOT NULL,
  namespace varbinary(256) NOT NULL,
  id varbinary(256) NOT NULL,
  handler varbinary(256) NOT NULL,
  spec mediumblob NOT NULL,
  progress mediumblob,
  payload_hash varbinary(32),
  PRIMARY KEY (namespace, id, version),
  KEY timewheel_done_end (changed_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- One row. Timers up to a position are purged. There is one part.
CREATE TABLE IF NOT EXISTS timewheel_history (
  forgotten_at bigint NOT NULL,
  forgotten_namespace varbinary(256) NOT NULL,
  forgotten_id varbinary(256) NOT NULL,
  part smallint NOT NULL,
  part_since bigint NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Counters of timers: the sum of the changes of all transactions. namespace: a namespace, or a queue
-- (namespace, line feed, name), of which only unfinished timers are counted.
CREATE TABLE IF NOT EXISTS timewheel_count (
  number bigint AUTO_INCREMENT PRIMARY KEY,
  namespace varbinary(513) NOT NULL,
  state smallint NOT NULL,
  delta bigint NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Paused namespaces, and paused queues (namespace, line feed, name). '' stands for all.
-- number: identifies the last call that paused the scope.
CREATE TABLE IF NOT EXISTS timewheel_pause (
  scope varbinary(513) PRIMARY KEY,
  number bigint NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Limits that all nodes share: of a queue (namespace, line feed, name), or of a host. tokens: the
-- number of attempts that could begin at that time.
CREATE TABLE IF NOT EXISTS timewheel_limit (
  name varbinary(513) PRIMARY KEY,
  tokens double NOT NULL,
  at_millis bigint NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Attempts that run under a limit of a host, until they end or their time limit expires.
CREATE TABLE IF NOT EXISTS timewheel_permit (
  name varbinary(513) NOT NULL,
  holder varbinary(256) NOT NULL,
  until_millis bigint NOT NULL,
  PRIMARY KEY (name, holder)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The nodes. A node holds its shards until its node lease expires, by the clock of the database.
-- newest_format: the newest format that the node knows. nonce: a random number, because a server
-- after a failover may lack the row and give its number to another node. client: true if the node
-- takes no shards. handlers: one per line: "=" and a name, or "^" and a prefix. epoch: see Epoch.
CREATE TABLE IF NOT EXISTS timewheel_node (
  node bigint PRIMARY KEY,
  nonce bigint NOT NULL,
  name text NOT NULL,
  newest_format int NOT NULL,
  client boolean NOT NULL,
  handlers mediumtext NOT NULL,
  lease_until bigint NOT NULL,
  clock_offset bigint NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS timewheel_shard (
  shard int PRIMARY KEY,
  owner bigint,
  epoch bigint NOT NULL
) ENGINE = InnoDB;

-- Answers of requests, each inserted in the transaction of its change, and retained for one day.
CREATE TABLE IF NOT EXISTS timewheel_answer (
  namespace varbinary(256) NOT NULL,
  id varbinary(256) NOT NULL,
  request varbinary(256) NOT NULL,
  digest varbinary(256) NOT NULL,
  answer smallint NOT NULL,
  version bigint NOT NULL,
  answered_at bigint NOT NULL,
  PRIMARY KEY (namespace, id, request),
  KEY timewheel_answer_age (answered_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Recently committed transactions, for nodes that have lost the answer to a COMMIT.
-- version: the first version of a direct write, see DirectWrites; null for other transactions.
CREATE TABLE IF NOT EXISTS timewheel_commit (
  made_at bigint NOT NULL,
  id bigint NOT NULL,
  version bigint,
  PRIMARY KEY (made_at, id)
) ENGINE = InnoDB;

START TRANSACTION;
INSERT INTO timewheel_history VALUES (-9223372036854775808, '', '', 0, 0);
INSERT INTO timewheel_meta VALUES ('identity', FLOOR(RAND() * 9007199254740992));
INSERT INTO timewheel_meta VALUES ('pauses', 0);
INSERT INTO timewheel_meta VALUES ('prepared', 6);
INSERT INTO timewheel_meta VALUES ('format', 6);
