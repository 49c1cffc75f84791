// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static com.datastax.oss.simulacron.common.stubbing.PrimeDsl.noResult;
import static com.datastax.oss.simulacron.common.stubbing.PrimeDsl.when;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.session.ProgrammaticArguments;
import com.datastax.oss.driver.internal.core.context.DefaultDriverContext;
import com.datastax.oss.driver.internal.core.context.DefaultNettyOptions;
import com.datastax.oss.driver.internal.core.context.NettyOptions;
import com.datastax.oss.simulacron.common.cluster.ClusterSpec;
import com.datastax.oss.simulacron.server.BindNodeException;
import com.datastax.oss.simulacron.server.BoundCluster;
import com.datastax.oss.simulacron.server.Server;
import io.netty.util.Timer;
import io.timewheel.testkit.ManualTimer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests Cassandra's driver on a {@link NettyTimer}, against a simulated server. */
@Tag("client")
class CassandraTest {
  private final ManualTimer timer = ManualTimer.create();

  @Test
  void requestsAreTimedByOurTimer() {
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.PROTOCOL_VERSION, "V4")
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofHours(1))
            .build();
    try (Server server = Server.builder().withAddressResolver(CassandraTest::freeAddress).build();
        BoundCluster cluster = register(server);
        CqlSession session =
            new OnTimer(new NettyTimer(timer))
                .withConfigLoader(config)
                .addContactPoint((InetSocketAddress) cluster.node(0).getAddress())
                .withLocalDatacenter("dc1")
                .build()) {
      cluster.prime(when("silence").then(noResult()));
      session.execute("an answer");
      assertThat(timer.stats().started()).isPositive();

      CompletableFuture<?> silence = session.executeAsync("silence").toCompletableFuture();

      timer.advanceBy(Duration.ofMinutes(59));
      assertThat(silence).isNotDone();
      timer.advanceBy(Duration.ofMinutes(1));
      assertThatThrownBy(silence::join).hasCauseInstanceOf(DriverTimeoutException.class);
    }
    assertThat(timer.isStopped()).as("the session stopped a timer that is not its own").isFalse();
  }

  private static BoundCluster register(Server server) {
    while (true) {
      try {
        return server.register(ClusterSpec.builder().withNodes(1).build());
      } catch (RuntimeException e) {
        if (!(e.getCause() instanceof BindNodeException node
            && node.getCause() instanceof BindException)) {
          throw e;
        } // otherwise, another process has bound the address meanwhile
      }
    }
  }

  /**
   * Returns a free port. Port zero does not work, because the server does not report the port that
   * it chose.
   */
  private static SocketAddress freeAddress() {
    try (ServerSocket socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
      return socket.getLocalSocketAddress();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes sessions with a given timer. */
  private static final class OnTimer extends CqlSessionBuilder {
    private final Timer timer;

    OnTimer(Timer timer) {
      this.timer = timer;
    }

    @Override
    protected DriverContext buildContext(
        DriverConfigLoader configLoader, ProgrammaticArguments arguments) {
      return new DefaultDriverContext(configLoader, arguments) {
        @Override
        protected NettyOptions buildNettyOptions() {
          return new DefaultNettyOptions(this) {
            @Override
            public Timer getTimer() {
              return timer;
            }
          };
        }
      };
    }
  }
}
