// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds free ports for servers, outside the range that the system assigns to clients. Otherwise a
 * client could get the port of a stopped server, and even connect to itself.
 */
final class Ports {
  private static final int FIRST = 15_000;
  private static final int LAST = 30_000;
  private static final int TRIES = 1_000;

  private Ports() {}

  static int free() throws IOException {
    for (int i = 1; ; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        if (i == TRIES) {
          throw e;
        }
      }
    }
  }
}
