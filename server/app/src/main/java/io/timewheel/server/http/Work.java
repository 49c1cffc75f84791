// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

/**
 * The kinds of work of a route. Each kind has its own limit, so that requests of one kind cannot
 * take the threads of the others.
 */
public enum Work {
  /** Never blocks or waits: probes, claims and files. */
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
