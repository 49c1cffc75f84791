// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.Cidr;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Limits connections and the time of their requests. Connections above the limit are answered 429.
 * One client address leaves an eighth of the connections to the others, unless it is a trusted
 * proxy.
 *
 * <p>Jetty closes an idle connection, but each byte ends the idle time. So a request that arrives
 * byte by byte would hold its connection forever. A periodic sweep closes connections whose next
 * request has taken too long to arrive. The sweep limits neither a request that has arrived nor a
 * connection without a request.
 */
public final class Connections implements Connection.Listener {
  public static final long SWEEP_SECONDS = 5;
  public static final long MAX_HEAD_SECONDS = 30;
  private static final long SURPLUS_IDLE_MILLIS = 5_000;

  /** The number of connections above the limit that are answered 429. Others are closed. */
  static final int REFUSED = 1_000;

  /** The protocol of a TLS session before the end of the handshake. */
  private static final String NO_PROTOCOL = "NONE";

  private final ClientAddress addresses;
  private final FairLimit limit;
  private final FairLimit refused = new FairLimit(REFUSED);
  private final Map<Connection, Head> heads = new ConcurrentHashMap<>();

  /** The time of the last sweep. Guarded by this. */
  private long sweptNanos = System.nanoTime();

  /** The state of a connection's next request at the last sweep. */
  private static final class Head {
    private final @Nullable String client;

    /** The limit that was reached when the connection was opened; null if none was. */
    private final @Nullable String reached;

    private long requests = -1;
    private long bytes;
    private long seenNanos;
    private long beganNanos;
    private boolean begun;
    private boolean shaking;

    Head(@Nullable String client, @Nullable String reached) {
      this.client = client;
      this.reached = reached;
    }

    /** {@return whether the next request has taken too long to arrive} */
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

  /** {@return whether the TLS handshake is not complete, so that no request can begin} */
  private static boolean isShakingHands(Connection connection) {
    return connection.getEndPoint() instanceof SslConnection.SslEndPoint endPoint
        && endPoint
            .getSslConnection()
            .getSSLEngine()
            .getSession()
            .getProtocol()
            .equals(NO_PROTOCOL);
  }

  /**
   * Makes the limits.
   *
   * @param max the number of connections
   * @param trustedProxies the addresses that have connections of many clients
   */
  public Connections(int max, List<Cidr> trustedProxies) {
    this.limit = new FairLimit(max);
    this.addresses = new ClientAddress(trustedProxies);
  }

  @Override
  public void onOpened(Connection connection) {
    if (connection instanceof SslConnection) {
      return; // it wraps another connection, which counts
    }
    String client = addresses.networkOf(connection.getEndPoint().getRemoteSocketAddress());
    String reached = limit.take(client);
    if (reached == null || refused.take(client) == null) {
      heads.put(connection, new Head(client, reached));
    } else {
      transport(connection).close();
      return;
    }
    if (reached != null) {
      connection.getEndPoint().setIdleTimeout(SURPLUS_IDLE_MILLIS);
    }
  }

  /** {@return the connection to the client, below TLS} */
  private static EndPoint transport(Connection connection) {
    return connection.getEndPoint() instanceof SslConnection.SslEndPoint endPoint
        ? endPoint.getSslConnection().getEndPoint()
        : connection.getEndPoint();
  }

  @Override
  public void onClosed(Connection connection) {
    Head head = heads.remove(connection);
    if (head != null) {
      (head.reached == null ? limit : refused).release(head.client);
    }
  }

  public int count() {
    return heads.size();
  }

  /** Refuses requests of a connection that was opened above the limit. */
  void check(Connection connection) {
    Head head = heads.get(connection);
    if (head != null && head.reached != null) {
      throw Problem.of(429, "too_many_connections", "too many connections (" + head.reached + ")")
          .header("Retry-After", "1")
          .header("Connection", "close")
          .failure();
    }
  }

  /** Sweeps from now on, until the scheduler stops. */
  void watch(Scheduler scheduler) {
    scheduler.schedule(
        () -> {
          sweep(System.nanoTime());
          watch(scheduler);
        },
        SWEEP_SECONDS,
        TimeUnit.SECONDS);
  }

  /** Closes slow connections, unless a later sweep has. */
  public synchronized void sweep(long nowNanos) {
    if (nowNanos - sweptNanos < 0) {
      return;
    }
    sweptNanos = nowNanos;
    heads.forEach(
        (connection, head) -> {
          if (head.isSlow(connection, nowNanos)) {
            connection
                .getEndPoint()
                .close(
                    new TimeoutException(
                        "a request took more than " + MAX_HEAD_SECONDS + " s to arrive"));
          }
        });
  }
}
