// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.dbos.transact.DBOS;
import dev.dbos.transact.StartWorkflowOptions;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Queue;
import dev.dbos.transact.workflow.Workflow;
import java.time.Duration;
import java.util.List;

/**
 * DBOS Transact. A timer is a delayed workflow without steps on a durable queue. DBOS has no call
 * that enqueues several workflows.
 */
final class DbosSubject implements Subject {
  private static final String QUEUE = "timers";
  private static final int BEST_WORKERS = 64;
  private static final int DEFAULT_CONNECTIONS = 24;

  private final ServerPlace place;
  private final HikariDataSource source;
  private final DBOS dbos;
  private final Timers timers;

  private DbosSubject(ServerPlace place, int connections, Queue queue, OnFire onFire) {
    this.place = place;
    source = place.database().pool(connections);
    dbos =
        new DBOS(
            DBOSConfig.defaults("timers")
                .withDataSource(source)
                .withAppVersion("1")
                .withExecutorId("1"));
    dbos.registerQueue(queue);
    timers = dbos.registerProxy(Timers.class, new Handler(onFire));
    dbos.launch();
  }

  /** Uses the defaults, such as a queue that is read once a second. */
  static Subject byDefault(ServerPlace place, int nodes, OnFire onFire) {
    return new DbosSubject(place, DEFAULT_CONNECTIONS, new Queue(QUEUE), onFire);
  }

  /** Reads the queue ten times a second and runs more workflows at once. */
  static Subject atItsBest(ServerPlace place, int nodes, OnFire onFire) {
    Queue queue =
        new Queue(QUEUE)
            .withPollingInterval(Duration.ofMillis(100))
            .withWorkerConcurrency(BEST_WORKERS);
    return new DbosSubject(place, BEST_WORKERS + 8, queue, onFire);
  }

  /** The workflows, in the form that DBOS requires: an interface for its proxy. */
  public interface Timers {
    void fire(String id, String payload);
  }

  /** The workflow of each timer. */
  public static final class Handler implements Timers {
    private final OnFire onFire;

    Handler(OnFire onFire) {
      this.onFire = onFire;
    }

    @Override
    @Workflow(name = "fire")
    public void fire(String id, String payload) {
      onFire.fired(id);
    }
  }

  @Override
  public void schedule(List<Order> orders) {
    for (Order order : orders) {
      StartWorkflowOptions options = new StartWorkflowOptions(order.id()).withQueue(QUEUE);
      long delay = order.dueMillis() - System.currentTimeMillis();
      if (delay > 0) {
        options = options.withDelay(Duration.ofMillis(delay));
      }
      dbos.startWorkflow(() -> timers.fire(order.id(), order.payload()), options);
    }
  }

  /** Counts workflows that have not succeeded. DBOS keeps those that have. */
  @Override
  public long unfinished() throws Exception {
    return place
        .database()
        .number("SELECT count(*) FROM dbos.workflow_status WHERE status <> 'SUCCESS'");
  }

  @Override
  public void close() {
    dbos.close();
    source.close();
  }
}
