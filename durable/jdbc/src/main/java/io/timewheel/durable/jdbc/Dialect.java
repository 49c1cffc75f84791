// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerState;
import io.timewheel.durable.jdbc.Statements.Answer;
import io.timewheel.durable.spi.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What differs from database to database: the statements. */
interface Dialect {
  /** {@return what the resources of the database are called} */
  String resource();

  /** {@return the formats that this release knows} */
  Formats formats();

  /** {@return the statements that make the tables, or prepare them for a later format} */
  default List<String> migration(int format) {
    String name = resource() + "-" + format + ".sql";
    try (InputStream in = requireNonNull(Dialect.class.getResourceAsStream(name), name)) {
      String all = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
      return List.of(all.split("(?<=;)\n", -1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Refuses a database that cannot hold the tables. Outside of a transaction. */
  void check(Connection connection) throws SQLException;

  /** Takes the right to change the tables, until {@link #unlockSchema}. */
  void lockSchema(Connection connection) throws SQLException;

  /** Gives it back, after the transaction. */
  default void unlockSchema(Connection connection) throws SQLException {}

  /** {@return the statement, and what has it run while nobody has a share of timewheel_meta} */
  List<String> alone(String statement);

  /** {@return whether there is the table in which the format is} */
  boolean hasSchema(Connection connection) throws SQLException;

  /** {@return what is known about a call that failed so before its commit} */
  StoreException.Kind kind(SQLException failure);

  /** {@return whether a transaction that failed so, and did nothing, is worth another try} */
  boolean mayGoWellNextTime(SQLException failure);

  /** {@return whether a statement has waited for a lock for too long} */
  boolean isHeldUp(SQLException failure);

  /**
   * {@return whether a group waits for a lock, for a moment; if not, a statement of it fails at
   * once if another transaction has the lock}
   */
  default boolean waitsBriefly() {
    return true;
  }

  /** {@return whether {@link Records#insert}, if it was daring, has found one that is there} */
  default boolean isThere(SQLException failure) {
    return false;
  }

  /** {@return whether somebody wanted to write where nobody may, as on a standby} */
  boolean isReadOnly(SQLException failure);

  /** {@return whether a commit may have been refused because a hint went with it} */
  default boolean mayBeForItsHint(SQLException failure) {
    return false;
  }

  /** {@return what to ask {@link #isCommitted} about; null if there is nothing to commit} */
  @Nullable String transactionId(Connection connection) throws SQLException;

  /** Asks the same along with the statements of a round, or else when the answer is wanted. */
  default Answer<Optional<String>> transactionId(Statements to) {
    return () -> Optional.ofNullable(transactionId(to.connection()));
  }

  /**
   * Asks in a transaction of its own, which is rolled back.
   *
   * @return whether a transaction was committed; null while it is in progress, or the server has
   *     not got to know all that was committed
   */
  @Nullable Boolean isCommitted(Connection connection, String transactionId) throws SQLException;

  /**
   * Commits something without a meaning, outside of a transaction, if its commit waits for more
   * than what {@link #isCommitted} tells: a standby, which has all that was committed before as
   * soon as it has this.
   */
  default void touch(Connection connection) throws SQLException {}

  /**
   * Sets the limits of a transaction that commits changes, and {@link #checkFormat checks the
   * format}.
   *
   * @return the first version of a block that is this transaction's own, if one is wanted; it has
   *     room for all rounds of the largest group
   */
  Answer<Long> begin(Statements to, boolean wantsVersions) throws SQLException;

  /** The same for a transaction that commits a group, which waits for no lock for long. */
  default Answer<Long> beginGroup(Statements to, boolean wantsVersions) throws SQLException {
    return begin(to, wantsVersions);
  }

  /**
   * Sets whether the statements of a group that follow wait for a lock, for a moment. Where they do
   * not wait anyway, nothing is set.
   */
  default void waitForLocks(Statements to, boolean wait) {}

  /** The same for a transaction that commits something else, and asks for no version. */
  default void begin(Connection connection) throws SQLException {
    try (Statements to = new Statements(connection)) {
      Answer<Long> unused = begin(to, false);
      to.send();
    }
  }

  /**
   * Begins a transaction whose reads all see the tables as of one moment, however long they take.
   *
   * @param alone whether it excludes other transactions that begin in this way, until it ends
   */
  void beginSnapshot(Connection connection, boolean alone) throws SQLException;

  /** Gives back what {@link #begin} has set, after the transaction. */
  default void end(Connection connection) throws SQLException {}

  /** Refuses an unknown format; the one in use stays so until the transaction ends. */
  default void checkFormat(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT value" + Formats.IN_USE);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      formats().found(rows.getLong(1));
    }
  }

  /** {@return the paused scopes, which stay as they are until the transaction ends} */
  Answer<Set<String>> holdPauses(Statements to) throws SQLException;

  /** Adds to how many timers there are. */
  void count(Statements to, Map<String, Map<TimerState, Long>> deltas) throws SQLException;

  /** {@return the epochs of shards, which stay as they are until the transaction ends} */
  Answer<Map<Integer, Long>> holdEpochs(Statements to, List<Integer> shards) throws SQLException;

  // Hints

  /**
   * {@return the name under which nodes on the same tables exchange hints; null if the database
   * passes none on}
   */
  default @Nullable String hintChannel(Connection connection) throws SQLException {
    return null;
  }

  /** Tells other nodes, if the transaction commits. */
  default void hint(Statements to, String channel, String text) {
    throw new UnsupportedOperationException();
  }

  default void listen(Connection connection, String channel) throws SQLException {
    throw new UnsupportedOperationException();
  }

  default void unlisten(Connection connection, String channel) throws SQLException {
    throw new UnsupportedOperationException();
  }

  /** Waits for hints. {@return those that came; none if the time is over} */
  default List<String> hints(Connection connection, int timeoutMillis) throws SQLException {
    throw new UnsupportedOperationException();
  }

  /** {@return the statements for the records of a group} */
  Records records();

  /** {@return the statements that are apart from the commit of a group} */
  Queries queries();

  /** {@return the statements for transactions in which the user has work of his own} */
  UserTransactions userTransactions();

  /** {@return an expression for the time of the database in milliseconds, as it passes} */
  String nowMillis();

  /** {@return what makes a SELECT lock its rows, so that others can do so too, but not write} */
  default String forShare() {
    return "FOR SHARE";
  }

  /** {@return an expression for which server writes: another one may have lost something} */
  String writingServer();

  /** {@return an expression for the number of a node that comes} */
  String nextIncarnation();
}
