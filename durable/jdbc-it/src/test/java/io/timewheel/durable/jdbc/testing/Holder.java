// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

/** Starts a server, prints its process ID, and waits to be killed. */
final class Holder {
  private Holder() {}

  public static void main(String[] args) throws Exception {
    DatabaseServer server =
        args[0].equals("mariadb") ? DatabaseServer.mariadb() : DatabaseServer.postgresql();
    // Not on the main thread: the server must outlive the thread that starts it.
    Thread starter = new Thread(() -> server.sync(false).start());
    starter.start();
    starter.join();
    System.out.println(server.pid());
    System.out.println(server.isRunning());
    while (System.in.read() >= 0) {
      // Ignore any input, and wait for the end of the stream.
    }
  }
}
