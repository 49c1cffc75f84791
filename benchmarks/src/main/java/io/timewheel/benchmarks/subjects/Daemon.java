// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/** The thread of a timer that does not keep the JVM from ending. */
final class Daemon extends Thread {
  Daemon(Runnable work) {
    super(work, "measured");
    setDaemon(true);
  }
}
