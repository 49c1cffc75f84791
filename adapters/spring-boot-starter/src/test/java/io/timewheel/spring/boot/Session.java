// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import java.util.concurrent.CountDownLatch;

/** The session that the guide's {@link Sessions} closes. */
final class Session {
  final CountDownLatch closed = new CountDownLatch(1);

  void close() {
    closed.countDown();
  }
}
