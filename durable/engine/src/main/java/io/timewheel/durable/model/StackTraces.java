// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/** The failed attempts whose stack traces are logged. */
public enum StackTraces {
  /** Those of the first and of the last attempt of a run. */
  FIRST_AND_LAST,
  /** Those of all attempts. */
  ALL,
  /** None. */
  NONE
}
