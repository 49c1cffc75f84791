// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.seams;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.SettableFuture;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Scheduler;
import io.reactivex.rxjava3.schedulers.Schedulers;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.concurrent.WheelScheduledExecutor;
import io.timewheel.testkit.ManualTimer;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.Socket;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import kotlin.Unit;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.DelayKt;
import kotlinx.coroutines.ExecutorCoroutineDispatcher;
import kotlinx.coroutines.ExecutorsKt;
import kotlinx.coroutines.GlobalScope;
import kotlinx.coroutines.TimeoutKt;
import kotlinx.coroutines.future.FutureKt;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.junit.jupiter.api.Test;

/**
 * Verifies that libraries that accept a {@link ScheduledExecutorService} wait on the wheel. Their
 * timeouts expire when the test advances the wheel's clock, which has no effect on any other timer.
 */
class LibrariesTest {
  private final ManualTimer timer = ManualTimer.create();
  private final ScheduledExecutorService scheduler =
      WheelScheduledExecutor.builder().timer(timer).executor(Runnable::run).build();

  @Test
  void grpcEndsACallAtItsDeadline() throws Exception {
    MethodDescriptor<String, String> method =
        MethodDescriptor.<String, String>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("test/silence")
            .setRequestMarshaller(new Text())
            .setResponseMarshaller(new Text())
            .build();
    Server server =
        InProcessServerBuilder.forName("silent")
            .directExecutor()
            .addService(
                ServerServiceDefinition.builder("test")
                    .addMethod(method, (call, headers) -> new ServerCall.Listener<>() {})
                    .build())
            .build()
            .start();
    ManagedChannel channel =
        InProcessChannelBuilder.forName("silent")
            .directExecutor()
            .scheduledExecutorService(scheduler)
            .build();
    AtomicReference<Status> closed = new AtomicReference<>();
    ClientCall<String, String> call =
        channel.newCall(method, CallOptions.DEFAULT.withDeadlineAfter(1, HOURS));

    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            closed.set(status);
          }
        },
        new Metadata());
    call.sendMessage("ping");
    call.halfClose();

    timer.advanceBy(Duration.ofMinutes(30));
    assertThat(closed).hasNullValue();
    timer.advanceBy(Duration.ofMinutes(30));
    assertThat(closed.get().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    channel.shutdownNow();
    server.shutdownNow();
  }

  @Test
  void guavaTimesAFutureOut() {
    SettableFuture<String> future = SettableFuture.create();
    ListenableFuture<String> timed = Futures.withTimeout(future, Duration.ofSeconds(2), scheduler);

    timer.advanceBy(Duration.ofMillis(1_999));
    assertThat(timed.isDone()).isFalse();
    timer.advanceBy(Duration.ofMillis(1));
    assertThatThrownBy(timed::get).hasCauseInstanceOf(TimeoutException.class);
  }

  @Test
  void hikariRetiresAConnection() throws InterruptedException {
    CountDownLatch closed = new CountDownLatch(1);
    Connection connection = answering(Connection.class, Map.of("isValid", true), closed);
    HikariConfig config = new HikariConfig();
    config.setDataSource(
        answering(DataSource.class, Map.of("getConnection", connection), new CountDownLatch(1)));
    config.setMaximumPoolSize(1);
    config.setMaxLifetime(SECONDS.toMillis(30));
    config.setScheduledExecutor(scheduler);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      assertThat(pool.isRunning()).isTrue();

      timer.advanceBy(Duration.ofSeconds(30)); // later, HikariCP assumes a clock change

      closed.await();
    }
    assertThat(scheduler.isShutdown()).isFalse();
  }

  @Test
  void rxJavaTimesACompletableOut() {
    Scheduler wheel = Schedulers.from(scheduler);
    AtomicReference<Throwable> failure = new AtomicReference<>();

    Completable.never()
        .timeout(200, MILLISECONDS, wheel)
        .subscribe(() -> {}, failure::set)
        .isDisposed();

    timer.advanceBy(Duration.ofMillis(199));
    assertThat(failure).hasNullValue();
    timer.advanceBy(Duration.ofMillis(1));
    assertThat(failure.get()).isInstanceOf(TimeoutException.class);
    assertThat(timer.pendingTimeouts()).isZero();
  }

  /** Runs in real time, because Jetty reads its own clock to detect idle connections. */
  @Test
  void jettyClosesAnIdleConnection() throws Exception {
    ExecutorService workers = Executors.newCachedThreadPool();
    try (HierarchicalWheelTimer timer = HierarchicalWheelTimer.create()) {
      ScheduledExecutorService scheduler =
          WheelScheduledExecutor.builder().timer(timer).executor(workers).build();
      org.eclipse.jetty.server.Server server =
          new org.eclipse.jetty.server.Server(
              null, new ScheduledExecutorScheduler(scheduler), null);
      ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory());
      connector.setIdleTimeout(50);
      server.addConnector(connector);
      server.start();

      try (Socket client = new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort())) {
        client.getOutputStream().write("GET / HTTP/1.1\r\n".getBytes(UTF_8)); // and nothing further
        while (client.getInputStream().read() >= 0) {
          // Jetty's answer to the incomplete request
        }
      }

      assertThat(timer.stats().expired()).isPositive();
      server.stop();
    } finally {
      workers.shutdown();
    }
  }

  @Test
  void kotlinDelaysAndTimesOut() {
    ExecutorCoroutineDispatcher dispatcher = ExecutorsKt.from(scheduler);
    CompletableFuture<Unit> delayed =
        FutureKt.future(
            GlobalScope.INSTANCE,
            dispatcher,
            CoroutineStart.DEFAULT,
            (scope, then) -> DelayKt.delay(100, then));
    CompletableFuture<Object> timedOut =
        FutureKt.future(
            GlobalScope.INSTANCE,
            dispatcher,
            CoroutineStart.DEFAULT,
            (scope, then) ->
                TimeoutKt.withTimeout(
                    200, (inner, never) -> DelayKt.awaitCancellation(never), then));

    timer.advanceBy(Duration.ofMillis(99));
    assertThat(delayed).isNotDone();
    timer.advanceBy(Duration.ofMillis(1));
    assertThat(delayed).isCompleted();
    timer.advanceBy(Duration.ofMillis(99));
    assertThat(timedOut).isNotDone();
    timer.advanceBy(Duration.ofMillis(1));
    assertThat(timedOut).isDone();
    assertThat(timer.pendingTimeouts()).isZero();
  }

  /**
   * Returns a proxy that returns the given answers, otherwise null or zero, and counts how often it
   * is closed.
   */
  private static <T> T answering(
      Class<T> type, Map<String, Object> answers, CountDownLatch closed) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                closed.countDown();
              }
              Object answer = answers.get(method.getName());
              if (answer != null) {
                return answer;
              } else if (method.getReturnType() == boolean.class) {
                return false;
              } else {
                return method.getReturnType() == int.class ? (Object) 0 : null;
              }
            }));
  }

  private static final class Text implements MethodDescriptor.Marshaller<String> {
    @Override
    public InputStream stream(String value) {
      return new ByteArrayInputStream(value.getBytes(UTF_8));
    }

    @Override
    public String parse(InputStream stream) {
      return "";
    }
  }
}
