// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs the server until it is told to end. */
@Command(
    name = "serve",
    description = "Runs the server.",
    footer = {
      "",
      "Examples:",
      "  timewheel serve",
      "  timewheel serve --port 8080 --data /var/lib/timewheel"
    })
final class ServeCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int CHANGES_IN_WAIT = 50_000;
  private static final Duration HTTP_PATIENCE = Duration.ofSeconds(6);
  private static final Duration TIMER_PATIENCE = Duration.ofSeconds(10);

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "The port; 0 for a free one. Default: ${DEFAULT-VALUE}.",
      defaultValue = "" + ServerConfig.DEFAULT_PORT)
  private int port;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      description = "The address to listen on. Default: ${DEFAULT-VALUE}.",
      defaultValue = "127.0.0.1")
  private String listen = "127.0.0.1";

  @Option(
      names = "--host",
      paramLabel = "NAME",
      description = "A name that clients call this server by, besides loopback names; repeatable.")
  private Set<String> hosts = new HashSet<>();

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Where the timers are kept. Default: ${DEFAULT-VALUE}.",
      defaultValue = "timewheel-data")
  private Path data = Path.of("timewheel-data");

  @Option(
      names = "--insecure",
      description = "Listens on another address than loopback though nobody has to show a token.")
  private boolean insecure;

  @Override
  public Integer call() throws InterruptedException {
    if (!insecure && !isLoopback(listen)) {
      return failed(
          "--listen "
              + listen
              + " reaches beyond this machine, and there are no tokens;"
              + " --insecure would let everybody in");
    }
    ServerConfig loopback = ServerConfig.loopback(port);
    Set<String> names = new HashSet<>();
    hosts.forEach(host -> names.add(host.toLowerCase(Locale.ROOT)));
    ServerConfig config =
        new ServerConfig(
            listen,
            port,
            names,
            loopback.maxConnections(),
            loopback.maxWaitingClaims(),
            loopback.maxStreams(),
            loopback.maxBodyBytes());
    TimewheelServer server;
    try {
      server = TimewheelServer.start(config);
    } catch (IOException e) {
      return failed("cannot listen on %s:%d: %s".formatted(listen, port, reason(e)));
    }
    DurableTimer timer;
    try {
      timer = open();
    } catch (RuntimeException e) { // the end of the process closes the server, in silence
      return failed("cannot open the store in %s: %s".formatted(data, reason(e)));
    }
    server.serve(timer);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(server, timer), "timewheel-stop"));
    String address = listen.contains(":") ? "[" + listen + "]" : listen;
    System.out.println("Timewheel ready on http://" + address + ":" + server.port());
    System.out.flush();
    new CountDownLatch(1).await(); // the hook ends it
    return 0;
  }

  private DurableTimer open() {
    TimerStore store = RocksTimerStore.open(data);
    return DurableTimer.builder(store).queueCapacity(CHANGES_IN_WAIT, true).start();
  }

  /** On SIGTERM; without the halt, the JVM would exit with the number of the signal. */
  private static void drain(TimewheelServer server, DurableTimer timer) {
    int status = 0;
    try {
      server.close(HTTP_PATIENCE);
    } catch (RuntimeException e) {
      status = failed("the server did not end in good order: " + reason(e));
    }
    try {
      timer.close(TIMER_PATIENCE);
    } catch (RuntimeException e) {
      status = failed("the store was not closed in good order: " + reason(e));
    }
    Runtime.getRuntime().halt(status);
  }

  private static boolean isLoopback(String address) {
    try {
      return InetAddress.getByName(address).isLoopbackAddress();
    } catch (IOException e) {
      return false;
    }
  }

  private static int failed(String why) {
    System.err.println("timewheel: " + why);
    return FAILED;
  }

  private static String reason(Throwable error) {
    return String.valueOf(error.getMessage());
  }
}
