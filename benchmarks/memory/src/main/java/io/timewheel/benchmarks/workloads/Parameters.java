// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import io.timewheel.benchmarks.subjects.Settings;
import java.util.Arrays;
import java.util.List;

/**
 * The numbers of a variant of a workload. Each workload uses some of them.
 *
 * @param threads the threads that start timeouts
 * @param count the number of pending timeouts, or, for operations, the number per thread
 * @param minDelayNanos the shortest of the long delays
 * @param maxDelayNanos the longest delay
 * @param tickNanos the tick, for timers that have one
 * @param busyCpus the number of processors that other threads keep busy
 * @param windowMillis the duration of the measurement
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

  /** {@return these parameters as one word of a command line} */
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
   * Reads the output of {@link #encode}.
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
