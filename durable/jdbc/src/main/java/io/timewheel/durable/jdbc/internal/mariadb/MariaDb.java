// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.ServerParts;

/**
 * Creates the parts for MariaDB, 10.11 or newer. MariaDB has no notifications, and so no
 * notifications.
 */
public final class MariaDb {
  private MariaDb() {}

  /** {@return the parts of a server, for the known formats of the tables} */
  public static ServerParts parts(Formats formats) {
    MariaDbErrors errors = new MariaDbErrors();
    return new ServerParts(
        formats,
        errors,
        new MariaDbCommitProof(errors),
        new MariaDbTransactions(formats),
        new MariaDbSchema(),
        MariaDbExpressions.ALL,
        new MariaDbSharedRows(),
        new MariaDbRecords(),
        new MariaDbDirectInserts(formats),
        new MariaDbQueries(),
        new MariaDbHistory(),
        new MariaDbRequestRows(),
        new MariaDbUserTransactions(formats),
        null);
  }
}
