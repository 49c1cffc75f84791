// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/** Timeouts with a key each under measurement: a pattern, or a map and a timer combined by hand. */
public interface Keyed {
  /** Those that can be postponed. */
  interface Touched extends Keyed {
    /**
     * Postpones the timeout of a key, by its whole delay from now on.
     *
     * @param key whose
     */
    void touch(Long key);
  }

  /**
   * Starts the timeout of a key that has none.
   *
   * @param key whose
   */
  void add(Long key);

  /**
   * Ends the timeout of a key.
   *
   * @param key whose
   */
  void remove(Long key);
}
