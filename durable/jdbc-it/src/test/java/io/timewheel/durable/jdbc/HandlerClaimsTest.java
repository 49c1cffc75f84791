// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.postgresql.PostgreSqlQueries;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests ready timers of handlers: their index, and claims by nodes that have these handlers. */
class HandlerClaimsTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));
  final Fixture.Node node = fixture.start();
  private long tokens;

  @AfterEach
  void close() {
    fixture.close();
  }

  private ClaimToken token() {
    return new ClaimToken(9, ++tokens);
  }

  private void makeReady(String namespace, String id, String handler, long now) {
    TimerKey key = new TimerKey(namespace, id);
    Change.Schedule asked = schedule(id, NOW);
    var definition = asked.definition();
    node.commit(
        new Change.Schedule(
            key,
            new TimerDefinition(
                "",
                handler,
                false,
                definition.payload(),
                definition.headers(),
                definition.retry(),
                definition.missed(),
                definition.graceMillis()),
            NOW,
            false,
            Change.Condition.NONE,
            0,
            false,
            null,
            TimerRecord.NEVER,
            NOW));
    assertThat(makeReady(key, now).answer()).isEqualTo(Outcome.Answer.APPLIED);
  }

  private Outcome makeReady(TimerKey key, long now) {
    TimerRecord record = node.store.get(key);
    long epoch = node.epochs.get(Shards.of(key, node.store.traits().shards()));
    return node.commit(
        new Change.MakeReady(
            key, record.version(), record.revision(), epoch, TimerRecord.NONE, now));
  }

  private List<String> claim(String handler, int max) {
    return claimed(handler, max).stream().map(record -> record.key().id()).toList();
  }

  private List<TimerRecord> claimed(String handler, int max) {
    LeaseRequest request =
        new LeaseRequest(LeaseRequest.ALL_NAMESPACES, handler, max, NOW + 10_000);
    return node.store.lease(List.of(request), 256, NOW, this::token);
  }

  private long rows() throws SQLException {
    return fixture.number("SELECT count(*) FROM timewheel_handler_ready");
  }

  @Test
  void claimsTheLongestReadyOfAllNamespacesOnce() throws SQLException {
    makeReady("b", "1", "h", NOW + 1);
    makeReady("a", "2", "h", NOW + 2);
    makeReady("c", "3", "h", NOW + 3);
    makeReady("a", "4", "other", NOW);
    assertThat(claim("h", 2)).containsExactly("1", "2");
    assertThat(claim("h", 2)).containsExactly("3");
    assertThat(claim("h", 2)).isEmpty();
    assertThat(rows()).isOne();
    assertThat(node.store.counts().get("a"))
        .containsEntry(TimerState.RUNNING, 1L)
        .containsEntry(TimerState.READY, 1L);
    assertThat(node.store.get(new TimerKey("b", "1")).fireAt()).isEqualTo(NOW + 10_000);
  }

  @Test
  void listsTheHandlersThatHaveReadyTimers() {
    assertThat(node.store.readyHandlers(null, 10)).isEmpty();
    for (String handler : List.of("b", "a", "webhook:x", "ä")) {
      makeReady("ns", handler + 1, handler, NOW);
      makeReady("ns", handler + 2, handler, NOW);
    }
    assertThat(node.store.readyHandlers(null, 10)).containsExactly("a", "b", "webhook:x", "ä");
    assertThat(node.store.readyHandlers(null, 2)).containsExactly("a", "b");
    assertThat(node.store.readyHandlers("b", 10)).containsExactly("webhook:x", "ä");
  }

  @Test
  void claimsNothingOfAPausedNamespace() {
    makeReady("held", "1", "h", NOW);
    makeReady("free", "2", "h", NOW + 1);
    node.store.pause("held");
    assertThat(claim("h", 10)).containsExactly("2");
    node.store.resume("held");
    node.store.pause("");
    assertThat(claim("h", 10)).isEmpty();
    node.store.resume("");
    assertThat(claim("h", 10)).containsExactly("1");
  }

  @Test
  void skipsATimerThatAUserTransactionHolds() throws SQLException {
    makeReady("shop", "1", "h", NOW);
    makeReady("shop", "2", "h", NOW + 1);
    try (Connection user = fixture.transaction();
        Statement statement = user.createStatement()) {
      statement.execute(
          "SELECT id FROM timewheel_timer WHERE namespace = 'shop' AND id = '1' FOR UPDATE");
      assertThat(claim("h", 1)).containsExactly("2");
      user.rollback();
    }
    assertThat(claim("h", 1)).containsExactly("1");
  }

  @Test
  void theIndexFollowsEachChangeOfAReadyTimer() throws SQLException {
    makeReady("shop", "1", "h", NOW);
    node.commit(new Change.Cancel(key("1"), 0, NOW));
    assertThat(rows()).isZero();
    makeReady("shop", "2", "h", NOW);
    node.commit(schedule("2", NOW + 1));
    assertThat(rows()).isZero();
    makeReady("shop", "3", "h", NOW);
    TimerRecord leased = claimed("h", 1).get(0);
    assertThat(rows()).isZero();
    node.commit(
        new Change.Finish(
            leased.key(),
            leased.claim().token(),
            0,
            Change.Finish.End.GIVEN_BACK,
            NOW,
            null,
            NOW + 5));
    assertThat(rows()).isOne();
    assertThat(node.store.get(key("3")).attempt()).isZero();
    assertThat(claim("h", 1)).containsExactly("3");
  }

  @Test
  void aLostClaimIsMadeReadyAgainWhenItsClaimLeaseHasExpired() {
    makeReady("shop", "1", "h", NOW);
    claim("h", 1);
    assertThat(makeReady(key("1"), NOW + 9_999).answer()).isEqualTo(Outcome.Answer.OUTDATED);
    assertThat(node.commit(node.begin("1")).answer()).isEqualTo(Outcome.Answer.OUTDATED);
    assertThat(makeReady(key("1"), NOW + 10_000).answer()).isEqualTo(Outcome.Answer.APPLIED);
    TimerRecord second = claimed("h", 1).get(0);
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.attempts()).hasSize(1);
  }

  @Test
  void anExtendedClaimLastsLonger() {
    makeReady("shop", "1", "h", NOW);
    TimerRecord leased = claimed("h", 1).get(0);
    node.commit(new Change.Extend(leased.key(), leased.claim().token(), NOW + 20_000, NOW));
    assertThat(makeReady(key("1"), NOW + 10_000).answer()).isEqualTo(Outcome.Answer.OUTDATED);
    assertThat(makeReady(key("1"), NOW + 20_000).answer()).isEqualTo(Outcome.Answer.APPLIED);
  }

  // Plans

  @Test
  void claimsByTheIndexForAnyTableContent() throws SQLException {
    assertPlans();
    for (int i = 0; i < 500; i++) {
      makeReady("ns" + i % 7, "many" + i, i % 2 == 0 ? "h" : "other", NOW + i);
    }
    assertPlans();
    analyze();
    assertPlans();
  }

  void analyze() throws SQLException {
    fixture.execute("ANALYZE timewheel_timer, timewheel_handler_ready");
  }

  void assertPlans() throws SQLException {
    assertThat(fixture.keptPlan(PostgreSqlQueries.TAKE_HANDLER_READY))
        .contains(
            "Nested Loop",
            "using timewheel_handler_ready_pkey on timewheel_handler_ready r",
            "using timewheel_timer_pkey on timewheel_timer t")
        .doesNotContain("Sort", "Seq Scan on timewheel_timer", "Bitmap");
    assertThat(fixture.keptPlan(PostgreSqlQueries.READY_HANDLERS))
        .contains("using timewheel_handler_ready_pkey on timewheel_handler_ready")
        .doesNotContain("Sort", "Seq Scan", "Bitmap");
  }
}
