// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import io.netty.util.HashedWheelTimer;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The threads of Netty's own timers. */
final class NettyWorkers {
  private static final String WORKER = HashedWheelTimer.class.getName() + "$Worker";

  private NettyWorkers() {}

  /** Returns the threads that run the loop of a Netty timer now, whatever their names. */
  static List<Thread> running() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(
            thread -> Stream.of(thread.getValue()).anyMatch(f -> f.getClassName().equals(WORKER)))
        .map(Map.Entry::getKey)
        .toList();
  }
}
