// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.schema.Schema;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import javax.sql.DataSource;

/** Configures and opens a store. Not thread-safe. */
public final class JdbcTimerStoreBuilder {
  private static final int DEFAULT_SHARDS = 64;
  private static final int MAX_NODE_BYTES = 256;

  private final Function<Formats, ServerParts> server;
  final DataSource source;
  int shards = DEFAULT_SHARDS;
  String node = "";
  boolean notifications = true;
  Formats formats = Formats.ofThisRelease();
  NodeClock clock = NodeClock.system();
  Transactions.Pauses pauses = JdbcTimerStoreBuilder::pause;
  boolean withThreads = true;
  Duration lease = Duration.ofSeconds(10);

  JdbcTimerStoreBuilder(Function<Formats, ServerParts> server, DataSource source) {
    this.server = server;
    this.source = source;
  }

  ServerParts server() {
    return server.apply(formats);
  }

  private Schema tables() {
    ServerParts known = server();
    Counters unread = new Counters(clock::nanoTime);
    return new Schema(new Transactions(source, known, pauses, unread), known, shards);
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(1 + ThreadLocalRandom.current().nextLong(millis));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Sets the number of shards with which the tables are created. The default is 64. At most this
   * many nodes fire timers. The number cannot be changed later.
   *
   * @param shards 1 to 1,024
   * @return this
   */
  public JdbcTimerStoreBuilder shards(int shards) {
    if (shards < 1 || shards > 1_024) {
      throw new IllegalArgumentException("shards: " + shards + " (expected: 1 to 1024)");
    }
    this.shards = shards;
    return this;
  }

  /**
   * Sets a name for this node, which appears in tables, lists and messages.
   *
   * @param name the name: at most 256 bytes without control characters
   * @return this
   */
  public JdbcTimerStoreBuilder node(String name) {
    int bytes = name.getBytes(UTF_8).length;
    if (bytes > MAX_NODE_BYTES || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "node: a name of "
              + bytes
              + " bytes (expected: at most "
              + MAX_NODE_BYTES
              + " without control characters)");
    }
    node = name;
    return this;
  }

  /**
   * Sets whether nodes notify each other of timers that are due within a second, and of queues with
   * ready timers. The default is true. Without notifications, such a timer fires up to 0.5 s late
   * if a node other than its shard's owner has scheduled it. Behind a backlog, it fires later. A
   * pooler in transaction mode cannot forward notifications, and MariaDB has none. All nodes should
   * have the same setting.
   *
   * @param notifications true to send and receive notifications
   * @return this
   */
  public JdbcTimerStoreBuilder notifications(boolean notifications) {
    this.notifications = notifications;
    return this;
  }

  /**
   * Creates missing tables, and prepares existing ones for this release. Opening a store does the
   * same; use this method if the application itself may not change tables. Nodes of older releases
   * continue to work.
   *
   * @param finish whether to switch to the format of this release, too, if no node of an older
   *     release is alive. Older nodes can then no longer start
   * @return the format in use
   * @throws io.timewheel.durable.spi.StoreException if the migration fails; its kind is REJECTED if
   *     an older node is alive
   */
  public int migrate(boolean finish) {
    return tables().migrate(finish).format();
  }

  /**
   * Returns the statements that {@link #migrate} would execute at this moment.
   *
   * @param finish whether to switch to the format of this release, too
   * @return an SQL script; empty if nothing is left to do
   */
  public String migration(boolean finish) {
    return tables().sql(finish);
  }

  /**
   * Opens the store. Creates its tables, or {@link #migrate prepares} them, if needed.
   *
   * @return the store
   */
  public JdbcTimerStore open() {
    return new JdbcTimerStore(this);
  }
}
