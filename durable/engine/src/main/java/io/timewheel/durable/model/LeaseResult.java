// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/** The result of ending or extending a claim lease. */
public enum LeaseResult {
  /** The change was applied, now or by an earlier identical call. */
  DONE,
  /** The claim lease is no longer open: it expired, or it ended in another way. */
  LOST,
  /** The timer does not exist. */
  NOT_FOUND
}
