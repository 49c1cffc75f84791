// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Bounds what connections may take. Those above the number that there may be are answered 429.
 *
 * <p>Jetty closes a connection that is silent, and every byte counts as a word. So one that is sent
 * byte by byte would hold its place for ever: a sweep now and then finds the connections whose next
 * request has been on its way for too long, and closes them. A request that has arrived may take
 * its time, and a connection without one may be silent for as long as Jetty lets it.
 */
public final class Connections implements Connection.Listener {
  public static final long SWEEP_SECONDS = 5;
  public static final long MAX_HEAD_SECONDS = 30;
  private static final long SURPLUS_IDLE_MILLIS = 5_000;

  /** The protocol of a session of TLS until the handshake is over. */
  private static final String NO_PROTOCOL = "NONE";

  private final int max;
  private final Map<Connection, Head> heads = new ConcurrentHashMap<>();

  /** The next request of a connection, as the last sweep found it. */
  private static final class Head {
    private final boolean surplus;
    private long requests = -1;
    private long bytes;
    private long seenNanos;
    private long beganNanos;
    private boolean begun;
    private boolean shaking;

    Head(boolean surplus) {
      this.surplus = surplus;
    }

    /** {@return whether it has been on its way for too long} */
    boolean isSlow(Connection connection, long nowNanos) {
      long requestsNow = connection.getMessagesIn();
      long bytesNow = connection.getBytesIn();
      boolean shakingNow = isShakingHands(connection);
      if (shakingNow != shaking) {
        begun = shakingNow;
        beganNanos = nowNanos;
        shaking = shakingNow;
      } else if (requestsNow != requests || requestsNow != connection.getMessagesOut()) {
        begun = false; // another request, or one that is being served
      } else if (!shaking && bytesNow != bytes && !begun) {
        begun = true;
        beganNanos = seenNanos;
      }
      requests = requestsNow;
      bytes = bytesNow;
      seenNanos = nowNanos;
      return begun && nowNanos - beganNanos > TimeUnit.SECONDS.toNanos(MAX_HEAD_SECONDS);
    }
  }

  /** {@return whether the handshake of TLS is not over, so that no request can begin} */
  private static boolean isShakingHands(Connection connection) {
    return connection.getEndPoint() instanceof SslConnection.SslEndPoint endPoint
        && endPoint
            .getSslConnection()
            .getSSLEngine()
            .getSession()
            .getProtocol()
            .equals(NO_PROTOCOL);
  }

  public Connections(int max) {
    this.max = max;
  }

  @Override
  public void onOpened(Connection connection) {
    if (connection instanceof SslConnection) {
      return; // it carries another one, which counts
    }
    boolean surplus = heads.size() >= max;
    heads.put(connection, new Head(surplus));
    if (surplus) {
      connection.getEndPoint().setIdleTimeout(SURPLUS_IDLE_MILLIS);
    }
  }

  @Override
  public void onClosed(Connection connection) {
    heads.remove(connection);
  }

  public int count() {
    return heads.size();
  }

  /** Refuses to work for a connection that was opened when there were as many as may be. */
  void check(Connection connection) {
    Head head = heads.get(connection);
    if (head != null && head.surplus) {
      throw Problem.of(429, "too_many_connections", "there are as many connections as may be")
          .header("Retry-After", "1")
          .header("Connection", "close")
          .failure();
    }
  }

  /** Sweeps from now on, for as long as the scheduler runs. */
  void watch(Scheduler scheduler) {
    scheduler.schedule(
        () -> {
          sweep(System.nanoTime());
          watch(scheduler);
        },
        SWEEP_SECONDS,
        TimeUnit.SECONDS);
  }

  /** Called by one thread at a time. */
  public synchronized void sweep(long nowNanos) {
    heads.forEach(
        (connection, head) -> {
          if (head.isSlow(connection, nowNanos)) {
            connection
                .getEndPoint()
                .close(
                    new TimeoutException(
                        "a request took more than " + MAX_HEAD_SECONDS + " s to begin"));
          }
        });
  }
}
