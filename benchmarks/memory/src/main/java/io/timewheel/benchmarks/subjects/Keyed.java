// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/** Measured timeouts with a key each: a pattern, or a map and a timer combined by hand. */
public interface Keyed {
  /** Keyed timeouts that can be postponed. */
  interface Touched extends Keyed {
    /**
     * Postpones the timeout of a key by its whole delay, from now.
     *
     * @param key the key
     */
    void touch(Long key);
  }

  /**
   * Starts the timeout of a key that has none.
   *
   * @param key the key
   */
  void add(Long key);

  /**
   * Ends the timeout of a key.
   *
   * @param key the key
   */
  void remove(Long key);
}
