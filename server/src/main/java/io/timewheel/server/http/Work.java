// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

/**
 * The work that a route takes. Requests with work of one kind have a limit of their own, so that
 * they cannot take the threads of the others.
 */
public enum Work {
  /** Never blocks, and never waits: probes, claims and files. */
  PROMPT,
  /** Reads the metrics. */
  SCRAPE,
  /** Reads or changes a few timers. */
  SHORT,
  /** Reads many timers. */
  LONG,
  /** Changes many timers, or copies the store. */
  BULK
}
