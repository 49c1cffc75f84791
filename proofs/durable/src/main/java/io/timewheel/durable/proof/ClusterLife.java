// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.proof.Child.Mark;
import io.timewheel.durable.proof.Cluster.Fault;
import io.timewheel.durable.proof.Cluster.Plan;
import io.timewheel.durable.proof.Cluster.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cluster on one database, from empty to drained. One thread injects all faults. The end of a
 * fault is a step in a queue.
 */
final class ClusterLife implements AutoCloseable {
  /**
   * The largest error of a node's estimate of the database's time that a network delay may cause,
   * with a margin.
   */
  static final int CLOCK_ERROR_MILLIS = 400;

  private static final int DELAY_MILLIS = 150;
  private static final int LEASE_MILLIS = 10_000;
  private static final int SOCKET_SECONDS = 8;
  private static final int BETWEEN_FAULTS_MILLIS = 6_000;

  /** The time without faults before and after a fault whose take-over time is measured. */
  private static final int QUIET_MILLIS = 15_000;

  private static final Set<Fault> TAKEN_OVER = EnumSet.of(Fault.KILL, Fault.ZOMBIE, Fault.LEAVE);

  private static final int TO_COME_MILLIS = 4_000;

  private static final int SUCCESSES_WITH_A_FAULT = 300;

  private final Plan plan;
  private final DatabaseServer server;
  private final Path directory;
  private final Random random;
  private final Report report;
  private final Database database;
  private final TakeOvers takeOvers = new TakeOvers();
  private final List<Fault> faults;
  private final List<Place> places = new ArrayList<>();
  private final PriorityQueue<Step> steps = new PriorityQueue<>();
  private final Thread undo = new Thread(this::killAll);
  private int nodes;

  /** A step that runs later. */
  private record Step(long atNanos, Action action) implements Comparable<Step> {
    @Override
    public int compareTo(Step other) {
      return Long.compare(atNanos - other.atNanos, 0);
    }
  }

  /** A change to the cluster. */
  private interface Action {
    void run() throws IOException, InterruptedException;
  }

  /** A node and its network. */
  private static final class Place {
    final Proxy proxy;
    @Nullable ChildProcess node;
    int number;
    boolean busy;

    Place(Proxy proxy) {
      this.proxy = proxy;
    }

    String name() {
      return ClusterNode.name(number);
    }
  }

  ClusterLife(Plan plan, DatabaseServer server, Path directory, long seed, Report report)
      throws IOException {
    this.plan = plan;
    this.server = server;
    this.directory = directory;
    this.report = report;
    random = new Random(seed);
    database = server.createDatabase();
    try {
      Effects.createLedger(database);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    takeOvers.watch(database);
    faults = List.copyOf(plan.faults());
    Files.createFile(log());
    Runtime.getRuntime().addShutdownHook(undo);
  }

  Path log() {
    return directory.resolve("log");
  }

  private Path errors() {
    return directory.resolve("errors");
  }

  void run() throws IOException, InterruptedException {
    for (int i = 0; i < plan.nodes(); i++) {
      start(newPlace());
    }
    awaitSuccesses();
    long nowNanos = System.nanoTime();
    long endNanos = nowNanos + TimeUnit.SECONDS.toNanos(plan.lifeSeconds());
    long nextNanos = nowNanos + millisToNanos(random.nextInt(BETWEEN_FAULTS_MILLIS));
    List<Fault> takenOver = faults.stream().filter(TAKEN_OVER::contains).toList();
    boolean quiet = false;
    while (nowNanos < endNanos || !steps.isEmpty()) {
      Step step = steps.peek();
      if (step != null && step.atNanos - nowNanos <= 0) {
        steps.remove();
        step.action.run();
      } else if (nowNanos < endNanos && nextNanos - nowNanos <= 0) {
        boolean alone = quiet && !takenOver.isEmpty();
        happen(any(alone ? takenOver : faults));
        quiet = !alone && random.nextInt(4) == 0;
        nextNanos =
            System.nanoTime()
                + millisToNanos(
                    alone || quiet ? QUIET_MILLIS : random.nextInt(BETWEEN_FAULTS_MILLIS));
      } else {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      nowNanos = System.nanoTime();
      if (hasLostANode()) {
        break;
      }
    }
    for (Step step = steps.poll(); step != null; step = steps.poll()) {
      step.action.run();
    }
    end();
  }

  /**
   * Waits for the first success, or for enough successes for an injected fault to have an effect,
   * however slow the machine is.
   */
  private void awaitSuccesses() throws IOException, InterruptedException {
    int enough = plan.fault().equals(Log.NONE) ? 1 : SUCCESSES_WITH_A_FAULT;
    while (!hasLostANode() && successes() < enough) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private long successes() throws IOException {
    try (Stream<String> lines = Files.lines(log())) {
      return lines.filter(line -> line.startsWith("F ")).count();
    }
  }

  private boolean hasLostANode() {
    boolean lost = places.stream().anyMatch(place -> place.node != null && !place.node.isAlive());
    if (lost) {
      report.violations.add("a node has ended by itself: see " + errors());
    }
    return lost;
  }

  private static long millisToNanos(int millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void later(int millis, Action action) {
    steps.add(new Step(System.nanoTime() + millisToNanos(millis), action));
  }

  private Place newPlace() throws IOException {
    Place place = new Place(new Proxy(server.port()));
    places.add(place);
    return place;
  }

  private void start(Place place) throws IOException {
    place.number = ++nodes;
    report.nodes++;
    place.busy = false;
    place.node = start(place.number, place.proxy.port(), plan.fault(), false);
  }

  private ChildProcess start(int number, int port, String fault, boolean drain) throws IOException {
    // The recommended setting of a cluster: the server closes silent connections.
    Database seen = DatabaseKind.of(database).givingUpAfter(SOCKET_SECONDS, database.through(port));
    ClusterNode.Settings settings =
        new ClusterNode.Settings(
            seen,
            log(),
            number,
            random.nextLong(),
            fault,
            plan.skewMillis(),
            CLOCK_ERROR_MILLIS,
            drain);
    return ChildProcess.start(ClusterNode.class, errors(), List.of("-Xmx160m"), settings.toArgs());
  }

  // The faults

  private <T> T any(List<T> some) {
    return some.get(random.nextInt(some.size()));
  }

  private void happen(Fault fault) throws IOException, InterruptedException {
    List<Place> free = places.stream().filter(place -> !place.busy).toList();
    Place place = free.isEmpty() ? null : any(free);
    switch (fault) {
      case RESTART, CRASH -> {
        takeOvers.disturb();
        if (fault == Fault.CRASH) {
          server.crash();
        } else {
          server.stop();
        }
        TimeUnit.MILLISECONDS.sleep(random.nextInt(3_000));
        server.start();
        takeOvers.disturb();
      }
      case TERMINATE -> terminate();
      default -> {
        if (place == null || place.node == null) {
          return;
        }
        happen(fault, place, place.node);
      }
    }
    report.faults.merge(fault, 1, Integer::sum);
  }

  private void happen(Fault fault, Place place, ChildProcess node)
      throws IOException, InterruptedException {
    boolean more = takeOvers.isWaiting() || !steps.isEmpty();
    switch (fault) {
      case KILL -> {
        takeOvers.lost("after a kill", place.name());
        node.kill();
        comeLater(place);
      }
      case ZOMBIE -> {
        takeOvers.lost("after a node stalled", place.name());
        node.suspend();
        until(place, LEASE_MILLIS + random.nextInt(LEASE_MILLIS), node::goOn);
      }
      case PAUSE -> {
        node.suspend();
        until(place, random.nextInt(LEASE_MILLIS), node::goOn);
      }
      case LEAVE -> {
        takeOvers.lost("after a node left", place.name());
        node.endInput();
        awaitExit(node);
        comeLater(place);
      }
      case RESIZE -> {
        if (places.size() <= plan.nodes()) {
          start(newPlace());
        } else {
          takeOvers.lost("after a node left", place.name());
          node.endInput();
          awaitExit(node);
          places.remove(place);
          place.proxy.close();
        }
      }
      case DELAY -> {
        place.proxy.delay(1 + random.nextInt(DELAY_MILLIS));
        until(place, random.nextInt(LEASE_MILLIS), () -> place.proxy.delay(0));
      }
      case CUT -> place.proxy.cut();
      case REFUSE -> {
        place.proxy.refuse(true);
        place.proxy.cut();
        until(place, random.nextInt(2 * LEASE_MILLIS), () -> place.proxy.refuse(false));
      }
      case SILENCE -> {
        place.proxy.silence(true);
        until(place, random.nextInt(2 * LEASE_MILLIS), () -> place.proxy.silence(false));
      }
      case LOSE_SERVER -> place.proxy.loseServer();
      case LOSE_NODE -> place.proxy.loseNode();
      default -> throw new IllegalArgumentException(fault.toString());
    }
    if (more) {
      takeOvers.disturb();
    }
  }

  /** Ends a fault of a node after some time. No other fault of this node starts until then. */
  private void until(Place place, int millis, Action end) {
    place.busy = true;
    later(
        millis,
        () -> {
          end.run();
          takeOvers.back(place.name());
          place.busy = false;
        });
  }

  private void comeLater(Place place) {
    place.busy = true;
    place.node = null;
    later(random.nextInt(TO_COME_MILLIS), () -> start(place));
  }

  private void awaitExit(ChildProcess node) throws InterruptedException {
    if (node.awaitExit() != 0) {
      report.violations.add("a node has failed: see " + errors());
    }
  }

  /** Closes some of the connections of the nodes, on the side of the server. */
  private void terminate() {
    try (Connection connection = database.connect()) {
      DatabaseKind.of(database).endSomeConnections(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  // The end

  /**
   * Removes all nodes except one, and kills that one. Then another node joins and drains all
   * timers.
   */
  private void end() throws IOException, InterruptedException {
    takeOvers.close(); // no take-overs are expected while all nodes leave
    report.addTakeOvers(takeOvers.millisByKind());
    for (Place place : List.copyOf(places)) {
      ChildProcess node = place.node;
      if (node == null) {
        continue;
      }
      if (place == places.get(0)) {
        node.kill();
      } else {
        node.endInput();
        awaitExit(node);
      }
      place.node = null;
    }
    ChildProcess last = start(++nodes, server.port(), Log.NONE, true);
    try {
      if (last.await(Mark.CLOSED.name()) == null || last.awaitExit() != 0) {
        report.violations.add("the last node failed: see " + errors());
      }
    } finally {
      last.kill();
    }
    verifyTables();
    try (Log log = new Log(log())) {
      Effects.log(database, log);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Compares indexes and counters with the rows. */
  private void verifyTables() {
    try (HikariDataSource pool = database.pool(2);
        JdbcTimerStore store = DatabaseKind.of(database).builder(pool).open()) {
      report.violations.addAll(store.verify().texts());
    }
  }

  private void killAll() {
    for (Place place : places) {
      ChildProcess node = place.node;
      if (node != null) {
        try {
          node.kill();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  @Override
  public void close() throws IOException {
    killAll();
    for (Place place : places) {
      place.proxy.close();
    }
    takeOvers.close();
    try {
      Runtime.getRuntime().removeShutdownHook(undo);
    } catch (IllegalStateException e) {
      // The verification is running.
    }
  }
}
