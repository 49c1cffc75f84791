// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.configuration.JobRunrConfiguration.JobRunrConfigurationResult;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;

/** JobRunr, whose jobs are requests with a handler. It has no call that schedules many jobs. */
final class JobRunrSubject implements Subject {
  private static final int BEST_WORKERS = 64;
  private static final int DEFAULT_CONNECTIONS = 24;

  private final ServerPlace place;
  private final HikariDataSource source;
  private final JobRunrConfigurationResult jobs;

  private JobRunrSubject(
      ServerPlace place,
      int connections,
      BackgroundJobServerConfiguration settings,
      OnFire onFire) {
    this.place = place;
    source = place.database().pool(connections);
    Handler handler = new Handler(onFire);
    JobActivator activator =
        new JobActivator() {
          @Override
          public <T> T activateJob(Class<T> type) {
            return type.cast(handler);
          }
        };
    jobs =
        JobRunr.configure()
            .useJsonMapper(new Jackson3JsonMapper())
            .useJobActivator(activator)
            .useStorageProvider(SqlStorageProviderFactory.using(source))
            .useBackgroundJobServer(settings)
            .initialize();
  }

  private static BackgroundJobServerConfiguration settings() {
    return BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration();
  }

  /** Uses the defaults. */
  static Subject byDefault(ServerPlace place, int nodes, OnFire onFire) {
    return new JobRunrSubject(place, DEFAULT_CONNECTIONS, settings(), onFire);
  }

  /** Polls as often as JobRunr allows, fetches more at once, and has more workers. */
  static Subject atItsBest(ServerPlace place, int nodes, OnFire onFire) {
    return new JobRunrSubject(
        place,
        BEST_WORKERS + 8,
        settings()
            .andPollInterval(Duration.ofSeconds(5))
            .andWorkerCount(BEST_WORKERS)
            .andScheduledJobsRequestSize(5_000),
        onFire);
  }

  /** The request of a job. */
  public record Request(String id, String payload) implements JobRequest {
    @Override
    public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  /** The handler of every job. */
  public static final class Handler implements JobRequestHandler<Request> {
    private final OnFire onFire;

    Handler(OnFire onFire) {
      this.onFire = onFire;
    }

    @Override
    public void run(Request request) {
      onFire.fired(request.id());
    }
  }

  @Override
  public void schedule(List<Order> orders) {
    for (Order order : orders) {
      jobs.getJobRequestScheduler()
          .schedule(
              UUID.randomUUID(),
              Instant.ofEpochMilli(order.dueMillis()),
              new Request(order.id(), order.payload()));
    }
  }

  /** Counts unfinished jobs. A finished job stays for a day and a half. */
  @Override
  public long unfinished() throws Exception {
    return place
        .database()
        .number("SELECT count(*) FROM jobrunr_jobs WHERE state NOT IN ('SUCCEEDED', 'DELETED')");
  }

  @Override
  public void close() {
    JobRunr.destroy();
    source.close();
  }
}
