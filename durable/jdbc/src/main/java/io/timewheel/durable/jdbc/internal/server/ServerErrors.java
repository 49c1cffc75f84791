// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.spi.StoreException;
import java.sql.SQLException;

/** Classifies the errors of a database server. */
public interface ServerErrors {
  /** {@return the kind of an error in a transaction that has not sent COMMIT} */
  StoreException.Kind kind(SQLException failure);

  /**
   * {@return whether a transaction that failed with this error, and changed nothing, may be
   * retried}
   */
  boolean mayGoWellNextTime(SQLException failure);

  /** {@return whether a statement has waited for a lock until its timeout} */
  boolean isHeldUp(SQLException failure);

  /** {@return whether a statement has inserted a row whose key already exists} */
  boolean isThere(SQLException failure);

  /** {@return whether the server refuses to write, as a standby does} */
  boolean isReadOnly(SQLException failure);
}
