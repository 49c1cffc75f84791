// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.pattern.Heartbeats;
import java.time.Duration;

/**
 * A server that pings a connection after writing nothing to it for 100 ms, and closes it after
 * reading nothing from it for 250 ms. The peer is a fake: it answers two pings and then no more.
 */
public final class IdleServer {
  private final Scene scene;
  private final Heartbeats<String> heartbeats;
  private int answers = 2;

  private IdleServer(Scene scene) {
    this.scene = scene;
    heartbeats =
        Heartbeats.<String>builder(scene.timer(), scene.executor())
            .onWriteIdle(Duration.ofMillis(100), this::ping)
            .onReadIdle(Duration.ofMillis(250), this::close)
            .random(() -> 1) // or the first ping would be sent after a random part of the idle time
            .build();
    heartbeats.add("peer");
  }

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * ping, answered
   * ping, answered
   * ping
   * ping
   * closed: nothing was read for 250 ms
   * connections: 0
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(IdleServer::play);
  }

  static void play(Scene scene) throws InterruptedException {
    IdleServer server = new IdleServer(scene);
    scene.pass(800);
    scene.say("connections: " + server.heartbeats.size());
    server.heartbeats.close();
  }

  private synchronized void ping(Heartbeats.Connection<String> connection) {
    connection.written();
    if (answers-- > 0) {
      connection.read();
      scene.say("ping, answered");
    } else {
      scene.say("ping");
    }
  }

  private synchronized void close(Heartbeats.Connection<String> connection) {
    connection.close();
    scene.say("closed: nothing was read for 250 ms");
  }
}
