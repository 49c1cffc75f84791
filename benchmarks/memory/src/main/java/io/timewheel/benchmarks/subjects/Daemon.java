// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/** A timer thread that does not keep the JVM alive. */
final class Daemon extends Thread {
  Daemon(Runnable work) {
    super(work, "measured");
    setDaemon(true);
  }
}
