// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import io.timewheel.benchmarks.subjects.Settings;
import java.util.Arrays;
import java.util.List;

/**
 * The numbers that a variant of a workload is made of; each workload has use for some.
 *
 * @param threads that start timeouts
 * @param count how many timeouts are pending at once, or, of operations, how many a thread keeps
 * @param minDelayNanos the shortest delay of those for later
 * @param maxDelayNanos the longest delay
 * @param tickNanos the tick, for timers that have one
 * @param busyCpus how many processors are kept busy by somebody else
 * @param windowMillis how long is measured
 */
public record Parameters(
    int threads,
    int count,
    long minDelayNanos,
    long maxDelayNanos,
    long tickNanos,
    int busyCpus,
    int windowMillis) {

  Settings settings() {
    return new Settings(tickNanos, threads * count, maxDelayNanos);
  }

  /** {@return this as one word of a command line} */
  public String encode() {
    return String.join(
        ",",
        Arrays.stream(
                new long[] {
                  threads, count, minDelayNanos, maxDelayNanos, tickNanos, busyCpus, windowMillis
                })
            .mapToObj(Long::toString)
            .toList());
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @param word of the command line
   * @return the parameters
   */
  public static Parameters decode(String word) {
    List<Long> numbers = Arrays.stream(word.split(",", -1)).map(Long::valueOf).toList();
    return new Parameters(
        Math.toIntExact(numbers.get(0)),
        Math.toIntExact(numbers.get(1)),
        numbers.get(2),
        numbers.get(3),
        numbers.get(4),
        Math.toIntExact(numbers.get(5)),
        Math.toIntExact(numbers.get(6)));
  }
}
