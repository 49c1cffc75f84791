// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

/** What came of ending or extending a lease. */
public enum LeaseResult {
  /** It was done, now or by the same call before. */
  DONE,
  /** The lease is not open any more: it ran out, or was ended in another way. */
  LOST,
  /** There is no such timer. */
  NOT_FOUND
}
