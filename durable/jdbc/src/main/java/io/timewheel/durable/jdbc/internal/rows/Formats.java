// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The formats of the tables that a release reads and writes.
 *
 * <h2>Why nothing is written in a format that is not in use any more</h2>
 *
 * <pre>
 *   a transaction                               who switches
 *   1 reads the format, and so has a share
 *     of timewheel_meta until it ends           2 wants the table alone: waits for 3
 *   3 writes in that format; COMMIT             4 sees that no node lives that does not
 *   5 the next one waits for 6                    know the new format; writes it
 *   7 reads the new format                      6 COMMIT
 * </pre>
 *
 * A node that stood still for longer than its lease, and one that never had a lease, as it only
 * schedules, are not seen in 4. They are refused in 7, if they do not know the new format.
 */
public final class Formats {
  /** Selects the row whose value is the format in use. */
  public static final String IN_USE = " FROM timewheel_meta WHERE name = 'format'";

  private final int oldest;
  private final int newest;

  /** In use when a transaction has asked last. */
  private volatile long last;

  public Formats(int oldest, int newest) {
    this.oldest = oldest;
    this.newest = newest;
    last = newest;
  }

  public static Formats ofThisRelease() {
    return new Formats(3, 3);
  }

  public int oldest() {
    return oldest;
  }

  public int newest() {
    return newest;
  }

  /** Refuses an unknown format in use; it stays in use until the transaction ends. */
  public void checkInUse(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT value" + IN_USE);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      found(rows.getLong(1));
    }
  }

  /** Takes what a transaction has found, and refuses it if it is unknown. */
  public void found(long format) {
    last = format;
    check(format);
  }

  /** Refuses to read what a transaction has refused to change. */
  public void checkLast() {
    check(last);
  }

  /** Refuses a format that this release does not know. */
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
