// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

/** A program that starts a server, says the process id of it, and then waits to be killed. */
final class Holder {
  private Holder() {}

  public static void main(String[] args) throws Exception {
    DatabaseServer server =
        args[0].equals("mariadb") ? DatabaseServer.mariadb() : DatabaseServer.postgresql();
    // Not on the main thread: the death of a thread is not that of the JVM.
    Thread starter = new Thread(() -> server.sync(false).start());
    starter.start();
    starter.join();
    System.out.println(server.pid());
    System.out.println(server.isRunning());
    while (System.in.read() >= 0) {
      // Whatever it is, it ends nothing.
    }
  }
}
