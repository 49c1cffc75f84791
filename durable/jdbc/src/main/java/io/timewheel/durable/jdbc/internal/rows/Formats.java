// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Holds the formats of the tables that a release reads and writes.
 *
 * <h2>Why no transaction writes in an outdated format</h2>
 *
 * <pre>
 *   a transaction                               the node that switches the format
 *   1 reads the format, and so has a shared
 *     lock on timewheel_meta until it ends      2 locks the table exclusively: waits for 3
 *   3 writes in that format; COMMIT             4 checks that all live nodes know the new
 *   5 the next one waits for 6                    format; writes it
 *   7 reads the new format                      6 COMMIT
 * </pre>
 *
 * Step 4 does not find a node that stalled for longer than its node lease. Nor does it find a
 * client without one, which only schedules. If they do not know the new format, they are refused in
 * step 7.
 */
public final class Formats {
  /** Selects the row whose value is the format in use. */
  public static final String IN_USE = " FROM timewheel_meta WHERE name = 'format'";

  private final int oldest;
  private final int newest;

  /** The format in use at the last check by a transaction. */
  private volatile long last;

  public Formats(int oldest, int newest) {
    this.oldest = oldest;
    this.newest = newest;
    last = newest;
  }

  public static Formats ofThisRelease() {
    return new Formats(6, 6);
  }

  public int oldest() {
    return oldest;
  }

  public int newest() {
    return newest;
  }

  /**
   * Throws if the format in use is unknown. The format then stays in use until the transaction
   * ends.
   */
  public void checkInUse(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT value" + IN_USE);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      found(rows.getLong(1));
    }
  }

  /** Records the format that a transaction has read, and throws if it is unknown. */
  public void found(long format) {
    last = format;
    check(format);
  }

  /** Throws if the last format was unknown, so that reads are refused like changes. */
  public void checkLast() {
    check(last);
  }

  /** Throws if this release does not know the format. */
  public void check(long format) {
    if (format < oldest || format > newest) {
      throw new StoreException(
          Kind.UNAVAILABLE,
          "the tables have format %d (expected: %s)"
              .formatted(format, oldest == newest ? newest : oldest + " to " + newest),
          null);
    }
  }
}
