-- Format 6 of the tables of Timewheel, on PostgreSQL. All times are milliseconds since 1970, UTC.

-- Properties of the data: the format in use, the newest format that it is prepared for, and the
-- number of shards. Each transaction reads the format, and so has a shared lock on the table.
CREATE TABLE timewheel_meta (
  name text PRIMARY KEY,
  value bigint NOT NULL
);

-- Versions of timers. A transaction takes a block, so that versions ascend across sessions.
CREATE SEQUENCE timewheel_version INCREMENT BY 4096;

-- Incarnations of nodes.
CREATE SEQUENCE timewheel_incarnation;

-- Unfinished timers. A claim changes no indexed column, and its new row version mostly fits on the
-- same page: the space of earlier claims is free again.
-- fire_at: the position in the due index, or null.
-- created_at: null in a new version until its first change: the timer was then created at
-- changed_at. A statement that sets changed_at must set it.
-- spec, progress: see RecordCodec.
-- release_by: see Releasables. A claim leaves it null, so it can be indexed, unlike the state.
-- token: chosen by the node that inserted this version by a direct write, see DirectWrites.
CREATE TABLE timewheel_timer (
  version bigint NOT NULL,
  due_at bigint NOT NULL,
  fire_at bigint,
  created_at bigint,
  changed_at bigint NOT NULL,
  revision bigint NOT NULL,
  token bigint,
  shard integer NOT NULL,
  attempt integer NOT NULL,
  state smallint NOT NULL,
  flags smallint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  handler text COLLATE "C" NOT NULL,
  spec bytea NOT NULL,
  progress bytea,
  payload bytea NOT NULL,
  release_by text COLLATE "C" GENERATED ALWAYS AS (CASE
    WHEN state = 5 THEN '=' || handler
    WHEN state = 6 AND flags & 4 = 0 THEN '*' || namespace END) STORED,
  PRIMARY KEY (namespace, id)
) WITH (
  fillfactor = 90,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX timewheel_timer_due ON timewheel_timer (shard, fire_at) WHERE fire_at IS NOT NULL;
-- Timers that wait for a person or a consumer: paused, blocked, failed, ready.
CREATE INDEX timewheel_timer_idle ON timewheel_timer (namespace, id) WHERE fire_at IS NULL;
-- Blocked and held timers, which a node releases when their handler or namespace allows it.
CREATE INDEX timewheel_timer_release ON timewheel_timer (shard, release_by, namespace, id)
  WHERE release_by IS NOT NULL;

-- Timers of queues that a consumer may claim, the longest ready first.
CREATE TABLE timewheel_ready (
  namespace text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  ready_at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, queue, ready_at, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- Ready timers of handlers that the shard's owner does not have, the longest ready first. Nodes with
-- the handler claim its timers from all namespaces.
CREATE TABLE timewheel_handler_ready (
  handler text COLLATE "C" NOT NULL,
  ready_at bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (handler, ready_at, namespace, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- The history: finished timers, without their payloads. It is written in parts, one after the
-- other, and a part is emptied as a whole when all its timers are purged.
CREATE TABLE timewheel_done (
  version bigint NOT NULL,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  revision bigint NOT NULL,
  token bigint,
  attempt integer NOT NULL,
  part smallint NOT NULL,
  state smallint NOT NULL,
  flags smallint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  handler text COLLATE "C" NOT NULL,
  spec bytea NOT NULL,
  progress bytea,
  payload_hash bytea
) PARTITION BY LIST (part);
CREATE INDEX timewheel_done_key ON timewheel_done (namespace, id);
CREATE INDEX timewheel_done_end ON timewheel_done (changed_at);
CREATE TABLE timewheel_done_0 PARTITION OF timewheel_done FOR VALUES IN (0);
CREATE TABLE timewheel_done_1 PARTITION OF timewheel_done FOR VALUES IN (1);
CREATE TABLE timewheel_done_2 PARTITION OF timewheel_done FOR VALUES IN (2);
CREATE TABLE timewheel_done_3 PARTITION OF timewheel_done FOR VALUES IN (3);

-- One row. Timers up to a position are purged. Timers that finish go into the current part.
CREATE TABLE timewheel_history (
  forgotten_at bigint NOT NULL,
  forgotten_namespace text COLLATE "C" NOT NULL,
  forgotten_id text COLLATE "C" NOT NULL,
  part smallint NOT NULL,
  part_since bigint NOT NULL
);
INSERT INTO timewheel_history
VALUES (-9223372036854775808, '', '', 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);

-- Counters of timers: the sum of the changes of all transactions. namespace: a namespace, or a queue
-- (namespace, line feed, name), of which only unfinished timers are counted.
CREATE TABLE timewheel_count (
  namespace text COLLATE "C" NOT NULL,
  state smallint NOT NULL,
  delta bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Answers of requests, each inserted in the transaction of its change, and retained for one day.
CREATE TABLE timewheel_answer (
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  request text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  answer smallint NOT NULL,
  version bigint NOT NULL,
  answered_at bigint NOT NULL,
  PRIMARY KEY (namespace, id, request)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX timewheel_answer_age ON timewheel_answer (answered_at);

-- Paused namespaces, and paused queues (namespace, line feed, name). '' stands for all.
-- number: identifies the last call that paused the scope.
CREATE TABLE timewheel_pause (
  scope text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL
);

-- Limits that all nodes share: of a queue (namespace, line feed, name), or of a host. tokens: the
-- number of attempts that could begin at that time.
CREATE TABLE timewheel_limit (
  name text COLLATE "C" PRIMARY KEY,
  tokens double precision NOT NULL,
  at_millis bigint NOT NULL
) WITH (fillfactor = 50);

-- Attempts that run under a limit of a host, until they end or their time limit expires.
CREATE TABLE timewheel_permit (
  name text COLLATE "C" NOT NULL,
  holder text COLLATE "C" NOT NULL,
  until_millis bigint NOT NULL,
  PRIMARY KEY (name, holder)
);

-- The nodes. A node holds its shards until its node lease expires, by the clock of the database.
-- newest_format: the newest format that the node knows. nonce: a random number, because a server
-- after a failover may lack the row and give its number to another node. client: true if the node
-- takes no shards. handlers: one per line: "=" and a name, or "^" and a prefix. epoch: see Epoch.
CREATE TABLE timewheel_node (
  node bigint PRIMARY KEY,
  nonce bigint NOT NULL,
  name text NOT NULL,
  newest_format integer NOT NULL,
  client boolean NOT NULL,
  handlers text COLLATE "C" NOT NULL,
  lease_until bigint NOT NULL,
  clock_offset bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE timewheel_shard (
  shard integer PRIMARY KEY,
  owner bigint,
  epoch bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO timewheel_meta VALUES ('prepared', 6);
INSERT INTO timewheel_meta VALUES ('format', 6);
