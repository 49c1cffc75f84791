// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.JdbcTimerStoreBuilder;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.FireId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the procedure for a shared database: a dump, restored into an empty database, then a start.
 */
@Timeout(300)
class DumpRestoreTest {
  private static final Pattern URL = Pattern.compile("jdbc:\\w+://([^:/]+):(\\d+)/(\\w+).*");

  @TempDir private Path directory;

  private static DurableTimer open(HikariDataSource pool, boolean postgresql) {
    JdbcTimerStoreBuilder builder =
        postgresql ? JdbcTimerStore.postgresqlBuilder(pool) : JdbcTimerStore.mariadbBuilder(pool);
    return DurableTimer.builder(builder.shards(4).open()).start();
  }

  private static Database database(boolean postgresql) {
    return (postgresql ? TestDatabases.postgresql() : TestDatabases.mariadb()).createDatabase();
  }

  private static void run(Path input, Path output, Database of, String... command)
      throws Exception {
    Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin", command[0])), command[0]);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("PGPASSWORD", of.password());
    builder.environment().put("MYSQL_PWD", of.password());
    if (input != null) {
      builder.redirectInput(input.toFile());
    }
    builder.redirectOutput(output.toFile()).redirectErrorStream(input != null);
    Process process = builder.start();
    assertThat(process.waitFor()).as(Files.readString(output, ISO_8859_1)).isZero();
  }

  private static String[] command(boolean postgresql, Database of, String... first) {
    Matcher url = URL.matcher(of.url());
    assertThat(url.matches()).as(of.url()).isTrue();
    return postgresql
        ? new String[] {
          first[0], "-h", url.group(1), "-p", url.group(2), "-U", of.user(), first[1], url.group(3)
        }
        : new String[] {
          first[0], "-h", url.group(1), "-P", url.group(2), "-u", of.user(), first[1], url.group(3)
        };
  }

  private static FireId claimAndAck(DurableTimer scheduler, Set<String> ids) {
    QueueFiring firing =
        scheduler
            .async()
            .queue("shop", "q")
            .claim(1, Duration.ofMinutes(1), Duration.ofMinutes(1))
            .toCompletableFuture()
            .join()
            .get(0);
    ids.add(firing.firing().id());
    scheduler
        .async()
        .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()))
        .toCompletableFuture()
        .join();
    return firing.firing().fireId();
  }

  private static void schedule(DurableTimer scheduler, String id, Duration after) {
    scheduler.schedule(TimerSpec.of("shop", id).after(after).queue("q"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void repeatsFiringsAckedAfterTheDumpAndLosesNothing(boolean postgresql) throws Exception {
    Database first = database(postgresql);
    Path dump = directory.resolve("dump");
    FireId afterDump;
    Set<String> ids = new TreeSet<>();
    try (HikariDataSource pool = first.pool(8);
        DurableTimer scheduler = open(pool, postgresql)) {
      schedule(scheduler, "acked-before", Duration.ZERO);
      claimAndAck(scheduler, ids);
      schedule(scheduler, "acked-after", Duration.ZERO);
      schedule(scheduler, "pending", Duration.ofDays(1));
      String[] tool =
          postgresql
              ? new String[] {"pg_dump", "--no-owner"}
              : new String[] {"mariadb-dump", "--single-transaction"};
      run(null, dump, first, command(postgresql, first, tool));
      afterDump = claimAndAck(scheduler, ids);
      assertThat(ids).containsExactly("acked-after", "acked-before");
    }
    Database second = database(postgresql);
    String[] tool =
        postgresql
            ? new String[] {"psql", "--set=ON_ERROR_STOP=1"}
            : new String[] {"mariadb", "--batch"};
    run(dump, directory.resolve("log"), second, command(postgresql, second, tool));
    try (HikariDataSource pool = second.pool(8);
        DurableTimer scheduler = open(pool, postgresql)) {
      ids.clear();
      assertThat(claimAndAck(scheduler, ids)).isEqualTo(afterDump);
      assertThat(ids).containsExactly("acked-after");
      assertThat(scheduler.timer("shop", "pending").get()).isPresent();
      assertThat(
              scheduler
                  .async()
                  .queue("shop", "q")
                  .claim(9, Duration.ofMinutes(1), Duration.ZERO)
                  .toCompletableFuture()
                  .join())
          .isEmpty();
    }
  }
}
