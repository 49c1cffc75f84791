// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.jdbc.internal.notifications.Notifications;
import io.timewheel.durable.jdbc.internal.postgresql.PostgreSql;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.NotificationTransport;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies the notifications between nodes on PostgreSQL, and their loss. */
@Timeout(120)
@Tag("promise-58")
class NotificationsTest {
  private final Fixture fixture = new Fixture(Server.POSTGRESQL);
  private final NotificationTransport transport =
      PostgreSql.parts(Formats.ofThisRelease()).notifications();

  @AfterEach
  void close() {
    fixture.close();
  }

  private String next(Connection connection) throws SQLException {
    List<String> notifications;
    do {
      notifications = transport.receive(connection, 1_000);
    } while (notifications.isEmpty());
    assertThat(notifications).hasSize(1);
    return notifications.get(0);
  }

  @Test
  void sendsOneNotificationPerBatchAndOnlyAboutNearTimers() throws SQLException {
    Fixture.Node node = fixture.open();
    try (Connection listener = fixture.pool.getConnection()) {
      transport.listen(listener, transport.channel(listener));
      node.commit(schedule("far", NOW + Notifications.NEAR_MILLIS));
      node.store.commit(List.of(schedule("a", NOW + 50), schedule("b", NOW + 40)));
      int shard = Shards.of(key("a"), 4);
      assertThat(Shards.of(key("b"), 4)).isEqualTo(shard);
      assertThat(next(listener)).isEqualTo("A\t" + shard + "\t" + (NOW + 40) + "\n");
    }
  }

  @Test
  void sendsNoNotificationAboutItsOwnShards() throws SQLException {
    Fixture.Node owner = fixture.start();
    Fixture.Node other = fixture.open();
    try (Connection listener = fixture.pool.getConnection()) {
      transport.listen(listener, transport.channel(listener));
      owner.commit(schedule("own", NOW));
      other.commit(schedule("others", NOW + 1));
      assertThat(next(listener)).endsWith("\t" + (NOW + 1) + "\n");
    }
  }

  @Test
  void notifiesTheOwnerOfAShard() throws Exception {
    Fixture.Node owner = fixture.start();
    Fixture.Node other = fixture.open();
    // The owner may not listen yet. A notification that it misses then does not matter here.
    while (owner.notifications.isEmpty()) {
      other.commit(new Change.Cancel(key("a"), 0, NOW));
      other.commit(schedule("a", NOW + 50));
      owner.notified.tryAcquire(1, TimeUnit.SECONDS);
    }
    assertThat(owner.notifications).contains("added " + Shards.of(key("a"), 4) + " " + (NOW + 50));
  }

  @Test
  void listensAgainIfTheServerNoLongerAnswers() throws Exception {
    LossySource source = new LossySource(fixture.pool);
    Fixture.Node owner = fixture.open(source, 4);
    owner.store.start(owner);
    Fixture.Node other = fixture.open();
    source.silent = true;
    // It may begin to listen only now, and then waits the same time without notifications.
    while (!source.aborted.tryAcquire(1, TimeUnit.SECONDS)) {
      owner.clock.advanceMillis(10_000);
    }
    source.silent = false;
    for (int i = 0; owner.notifications.isEmpty(); i++) {
      other.commit(schedule("near-" + i, NOW + 50));
      boolean unused = owner.notified.tryAcquire(1, TimeUnit.SECONDS);
    }
    assertThat(owner.store.figures().notificationsReceived()).isPositive();
  }

  @Test
  void listensAgainAfterAnErrorOfTheJvm() throws Exception {
    LossySource source = new LossySource(fixture.pool);
    AtomicBoolean fails = new AtomicBoolean(true);
    source.onConnection =
        () -> {
          if (Thread.currentThread().getName().equals("timewheel-notifications")
              && fails.getAndSet(false)) {
            throw new OutOfMemoryError("on purpose");
          }
        };
    Fixture.Node owner = fixture.open(source, 4);
    owner.store.start(owner);
    Fixture.Node other = fixture.open();
    for (int i = 0; owner.notifications.isEmpty(); i++) {
      other.commit(schedule("near-" + i, NOW + 50));
      boolean unused = owner.notified.tryAcquire(1, TimeUnit.SECONDS);
    }
    assertThat(fails).isFalse();
  }

  @Test
  void passesOnReadyTimersAndIgnoresOtherLines() {
    Fixture.Node node = fixture.open();
    Notifications.tell(
        "X\t1\nA\tx\t1\nA\t99999999999\t1\nR\tshop\torders one\nA\t3\t17\n", node, () -> {});
    assertThat(node.notifications).containsExactly("ready shop orders one", "added 3 17");
  }

  /** A pool would otherwise lend a connection that still listens. */
  @Test
  void dropsAConnectionWhoseNotificationsFail() throws Exception {
    LossySource source = new LossySource(fixture.pool);
    Fixture.Node owner = fixture.open(source, 4);
    owner.failure = new IllegalStateException("on purpose");
    owner.store.start(owner);
    Fixture.Node other = fixture.open();
    for (int i = 0; !source.aborted.tryAcquire(1, TimeUnit.SECONDS); i++) {
      other.commit(schedule("near-" + i, NOW + 50));
    }
    assertThat(owner.notifications).isEmpty();
  }

  @Test
  void leavesOutLinesThatDoNotFit() {
    Notifications notifications = new Notifications();
    for (int i = 0; i < 5_000; i++) {
      Change.Schedule change = schedule("id-" + i, NOW);
      notifications.add(
          new TimerRecord(
              change.key(),
              1,
              0,
              TimerState.SCHEDULED,
              change.definition(),
              NOW,
              NOW,
              TimerRecord.NONE,
              0,
              0,
              null,
              null,
              false,
              false,
              NOW,
              NOW,
              null,
              null,
              List.of()),
          1_024,
          shard -> false);
    }
    assertThat(notifications.text()).endsWith("\n").hasSizeBetween(1_900, 2_000);
  }

  @Test
  void commitsWithoutNotificationsForAWhileIfTheNotificationQueueIsFull() throws SQLException {
    LossySource source = new LossySource(fixture.pool);
    Fixture.Node node = fixture.open(source, 4);
    try (Connection listener = fixture.pool.getConnection()) {
      transport.listen(listener, transport.channel(listener));
      refuseNotifications(source);
      assertThat(node.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
      node.clock.advanceMillis(59_999);
      node.commit(schedule("b", NOW));
      node.clock.advanceMillis(1);
      node.commit(schedule("c", NOW + 1));
      assertThat(next(listener)).endsWith("\t" + (NOW + 1) + "\n");
    }
  }

  /** Makes the server refuse the direct write, and the write batch with the same notification. */
  private static void refuseNotifications(LossySource source) {
    source.fates.add(LossySource.Fate.NOTIFICATION_REFUSED);
    source.fates.add(LossySource.Fate.NOTIFICATION_REFUSED);
  }

  /** Otherwise the second try could find the timer that the first one has inserted. */
  @Test
  void doesNotRetryWithoutANotificationIfTheOutcomeIsUnknown() {
    LossySource source = new LossySource(fixture.pool);
    Fixture.Node node = fixture.open(source, 4);
    refuseNotifications(source);
    source.connections = 2; // none is left for the lookup
    assertThatThrownBy(() -> node.commit(schedule("a", NOW)))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNKNOWN));
  }

  @Test
  void canBeSwitchedOff() throws SQLException {
    JdbcTimerStore quiet = fixture.builder(fixture.pool).notifications(false).open();
    Fixture.Node loud = fixture.open();
    try (Connection listener = fixture.pool.getConnection()) {
      transport.listen(listener, transport.channel(listener));
      quiet.commit(List.of(schedule("quiet", NOW)));
      loud.commit(schedule("loud", NOW + 1));
      assertThat(next(listener)).endsWith("\t" + (NOW + 1) + "\n");
    }
    quiet.close();
  }
}
