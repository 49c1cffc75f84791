// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import java.io.IOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The options of a shared database, as a mixin of the commands that take them. */
public interface SharedStore {
  /** {@return the URL of the database; null if none is named} */
  @Nullable String url();

  /**
   * Opens the store in the database, and closes it afterwards. It makes no tables.
   *
   * @param <T> the type of the result
   * @param work what to do with the store
   * @return the result
   * @throws IOException if the password cannot be read
   */
  <T> T using(Function<JdbcTimerStore, T> work) throws IOException;
}
