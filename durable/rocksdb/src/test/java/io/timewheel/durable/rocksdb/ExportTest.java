// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.key;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExportTest {
  @TempDir Path directory;

  private RocksTimerStore store;
  private RocksTimerStore other;

  @BeforeEach
  void open() {
    store = Fixture.open(directory.resolve("store"));
    other = Fixture.open(directory.resolve("other"));
  }

  @AfterEach
  void close() {
    store.close();
    other.close();
  }

  private static String export(RocksTimerStore from) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long timers = from.exportTo(out);
    String text = out.toString(UTF_8);
    assertThat(text.lines()).hasSize((int) timers + 2);
    return text;
  }

  private static long load(RocksTimerStore to, String text) {
    return to.importFrom(new ByteArrayInputStream(text.getBytes(UTF_8)));
  }

  /** Returns a record as an import stores it: without claims, except those of consumers. */
  private static TimerRecord imported(TimerRecord record) {
    return new TimerRecord(
        record.key(),
        record.version(),
        record.revision(),
        record.state(),
        record.definition(),
        record.dueAt(),
        record.fireAt(),
        record.runAt(),
        record.attempt(),
        record.runs(),
        imported(record.claim()),
        imported(record.former()),
        record.paused(),
        record.cancelRequested(),
        record.createdAt(),
        record.changedAt(),
        record.note(),
        record.trace(),
        record.attempts());
  }

  private static Claim imported(Claim claim) {
    if (claim == null || claim.until() != TimerRecord.NEVER) {
      return claim;
    }
    return new Claim(
        new ClaimToken(claim.token().high() | Long.MIN_VALUE, claim.token().low()),
        claim.version(),
        claim.scheduledAt(),
        claim.attempt(),
        0,
        claim.beganAt(),
        claim.until(),
        claim.end());
  }

  @Test
  void transfersTimersInEveryStateToAnotherStore() {
    Fixture fixture = new Fixture(store);
    fixture.fill();
    List<TimerRecord> all = fixture.all();
    assertThat(all.stream().map(TimerRecord::state)).contains(TimerState.values());

    assertThat(load(other, export(store))).isEqualTo(13);

    assertThat(Fixture.all(other))
        .containsExactlyElementsOf(all.stream().map(ExportTest::imported).toList());
    assertThat(other.counts()).isEqualTo(store.counts());
    assertThat(other.paused()).isEqualTo(Set.of("closed"));
    assertThat(other.verify().texts()).isEmpty();
    assertThat(other.due(0, Long.MAX_VALUE, null, 99))
        .isEqualTo(store.due(0, Long.MAX_VALUE, null, 99));
  }

  @Test
  void runsInterruptedAttemptsAgain() {
    Fixture fixture = new Fixture(store);
    fixture.commit(schedule("a", NOW));
    fixture.commit(fixture.begin("a"));
    load(other, export(store));
    Fixture there = new Fixture(other);
    TimerRecord begun = there.commit(there.begin("a")).record();
    assertThat(begun).isNotNull();
    assertThat(begun.attempt()).isEqualTo(2);
    assertThat(begun.attempts()).hasSize(1);
  }

  @Test
  void importsOnlyNewerTimersAndCanBeRepeated() {
    Fixture fixture = new Fixture(store);
    fixture.commit(schedule("a", NOW));
    fixture.commit(schedule("b", NOW));
    String before = export(store);
    assertThat(load(other, before)).isEqualTo(2);
    assertThat(load(other, before)).isZero();
    fixture.commit(schedule("b", NOW + 1));
    String after = export(store);
    assertThat(load(other, after)).isEqualTo(1);
    assertThat(load(other, before)).isZero();
    assertThat(other.get(key("b"))).isEqualTo(store.get(key("b")));
    assertThat(other.verify().texts()).isEmpty();
  }

  @Test
  void keepsVersionsAscendingInTheOtherStore() {
    Fixture fixture = new Fixture(store);
    fixture.commit(schedule("gone", NOW));
    long version = fixture.commit(schedule("gone", NOW + 1)).version();
    fixture.commit(new Change.Cancel(key("gone"), 0, NOW));
    store.purge(Long.MAX_VALUE, 0, 10);
    load(other, export(store));
    assertThat(new Fixture(other).commit(schedule("gone", NOW)).version()).isGreaterThan(version);
  }

  /** A recurring timer gets two revisions with each run, but never a new version. */
  @Test
  void acceptsRevisionsOfMoreThan32Bits() {
    new Fixture(store).commit(schedule("a", NOW));
    String late = export(store).replace("\"revision\":0", "\"revision\":" + Integer.MAX_VALUE);
    load(other, late);
    Fixture there = new Fixture(other);
    there.commit(there.begin("a"));
    assertThat(there.read("a").revision()).isEqualTo(1L << 31);
    assertThat(other.due(0, Long.MAX_VALUE, null, 9).get(0).revision()).isEqualTo(1L << 31);
    assertThat(export(other)).contains("\"revision\":2147483648,");
    assertThat(other.verify().texts()).isEmpty();
  }

  @Test
  void transfersAPauseOfTheWholeStore() {
    store.pause(TimerStore.EVERYTHING);
    load(other, export(store));
    assertThat(other.paused()).containsExactly(TimerStore.EVERYTHING);
  }

  @Test
  void notifiesARunningEngine() {
    Fixture fixture = new Fixture(store);
    fixture.commit(schedule("a", NOW + 7));
    Fixture there = new Fixture(other);
    load(other, export(store));
    assertThat(there.epoch).isEqualTo(1);
    assertThat(there.added).containsExactly(NOW + 7);
  }

  /** Nodes of a database make timers ready for a handler. Here they would wait forever. */
  @Test
  void aReadyTimerOfAHandlerIsDueHere() {
    new Fixture(store).commit(schedule("a", NOW));
    String ready =
        export(store).replace("\"SCHEDULED\"", "\"READY\"").replaceFirst("\"fireAt\":\\d+,", "");
    Fixture there = new Fixture(other);

    assertThat(load(other, ready)).isEqualTo(1);
    assertThat(load(other, ready)).isZero();

    assertThat(there.read("a").state()).isEqualTo(TimerState.SCHEDULED);
    assertThat(there.read("a").fireAt()).isEqualTo(NOW);
    assertThat(other.verify().texts()).isEmpty();
    there.commit(there.begin("a"));
    assertThat(there.read("a").attempt()).isEqualTo(1);
  }

  @Test
  void aReadyTimerOfAHandlerIsRetriedHereAfterAnAttempt() {
    new Fixture(store).commit(schedule("a", NOW));
    String ready =
        export(store)
            .replace("\"SCHEDULED\"", "\"READY\"")
            .replaceFirst("\"fireAt\":\\d+,", "\"attempt\":1,");

    assertThat(load(other, ready)).isEqualTo(1);

    assertThat(new Fixture(other).read("a").state()).isEqualTo(TimerState.RETRYING);
  }

  /** The node that made it ready has decided that it fires. */
  @Test
  void aReadyTimerOfAHandlerIsNoMissedRunHere() throws Exception {
    long past = 1_500_000_000_000L;
    new Fixture(store)
        .commit(schedule(key("a"), past, Fixture.definition(false, "orders", 3, true)));
    String ready =
        export(store).replace("\"SCHEDULED\"", "\"READY\"").replaceFirst("\"fireAt\":\\d+,", "");
    assertThat(load(other, ready)).isEqualTo(1);

    CompletableFuture<Instant> fired = new CompletableFuture<>();
    DurableTimer scheduler =
        DurableTimer.builder(other)
            .handler("orders", firing -> fired.complete(firing.scheduledAt()))
            .start();
    try {
      assertThat(fired.get(1, TimeUnit.MINUTES)).isEqualTo(Instant.ofEpochMilli(past));
    } finally {
      scheduler.close();
    }
  }

  @Test
  void copiesToAnotherStoreWithoutAFile() {
    Fixture fixture = new Fixture(store);
    fixture.fill();
    List<Long> progress = new ArrayList<>();

    assertThat(store.copyTo(other, progress::add)).isEqualTo(13);

    assertThat(progress).containsExactly(13L);
    assertThat(Fixture.all(other))
        .containsExactlyElementsOf(fixture.all().stream().map(ExportTest::imported).toList());
    assertThat(other.verify().texts()).isEmpty();
    assertThat(store.copyTo(other, progress::add)).isZero();
  }

  @Test
  void refusesAHashOfAPayloadThatIsNoneOrOfAnUnfinishedTimer() {
    new Fixture(store).commit(schedule("a", NOW));
    String good = export(store);
    for (String hash : List.of("0123", "0".repeat(64))) {
      refuses(
          good.replace("\"missed\":", "\"payloadHash\":\"" + hash + "\",\"missed\":"),
          "line 2: payloadHash: " + hash + " (expected: 64 hexadecimal digits");
    }
  }

  // Invalid input

  private void refuses(String text, String why) {
    assertThatThrownBy(() -> load(other, text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }

  @Test
  void reportsTheLineAndItsError() {
    new Fixture(store).commit(schedule("a", NOW));
    String good = export(store);
    String[] lines = good.split("\n", -1);
    String head = lines[0] + "\n";
    String timer = lines[1];
    refuses("", "line 1: the export ends here, after 0 timers");
    refuses("hello", "line 1: is no JSON");
    refuses("[]", "line 1: is no object");
    refuses("{\"a\":1}", "line 1: this is not an export of timers");
    refuses(head.replace("\"format\":1", "\"format\":2"), "line 1: format: 2 (expected: 1");
    refuses(head, "line 1: the export ends here, after 0 timers");
    refuses(head + timer + "\n", "line 2: the export ends here, after 1 timers");
    refuses(head + timer.substring(0, 40), "line 2: is no JSON");
    refuses(head + timer + "\n{\"timers\":2}", "line 3: timers: 2 (expected: 1");
    refuses(good + "{}", "line 4: comes after the last line of the export");
    refuses(
        head + timer.replace("\"SCHEDULED\"", "\"LOST\""), "line 2: state: LOST (expected: one of");
    refuses(
        head + timer.replace("\"SCHEDULED\"", "\"COMPLETED\""),
        "line 2: fireAt: is not for the state");
    refuses(head + timer.replace("\"SCHEDULED\"", "\"RUNNING\""), "line 2: claim: is missing");
    refuses(head + timer.replaceFirst("\"fireAt\":\\d+,", ""), "line 2: fireAt: is missing");
    refuses(
        head.replace("[]", "[\"" + "x".repeat(300) + "\"]"),
        "line 1: paused: namespace: 300 bytes (expected: 1 to 256)");
    refuses(head.replace("[]", "[\"\\u0001\"]"), "line 1: paused: namespace: character U+0001");
    refuses(head + timer.replace("\"dueAt\":", "\"due\":"), "line 2: dueAt: is missing");
    refuses(
        head + timer.replace("\"version\":1", "\"version\":\"1\""),
        "line 2: version: 1 (expected: a whole");
    refuses(
        head + timer.replace("\"version\":1", "\"version\":-1"),
        "line 2: version: -1 (expected: at least 0");
    refuses(
        head + timer.replace("\"version\":1", "\"version\":9223372036854775807"),
        "line 2: version: 9223372036854775807 (expected: at most");
    refuses(
        head + timer.replace("\"version\":1", "\"version\":99999999999999999999"),
        "line 2: is no JSON: Numeric value");
    refuses(
        head + timer.replace("\"id\":\"a\"", "\"id\":\"\""),
        "line 2: id: 0 bytes (expected: 1 to 256)");
    refuses(
        head + timer.replace("\"id\":\"a\"", "\"id\":\"a\",\"id\":\"b\""),
        "line 2: id: is there twice");
    refuses(
        head + timer.replace("\"id\":", "\"colour\":1,\"id\":"), "line 2: colour: is not known");
    refuses(head + timer.replace("PT2S", "2s"), "line 2: retry.backoff: 2s: ");
    refuses(
        head + timer.replace("\"maxAttempts\":3", "\"maxAttempts\":0"),
        "line 2: maxAttempts: 0 (expected");
    refuses(head + timer.replace("\"payload\":\"", "\"payload\":\"!"), "line 2: payload: !");
    refuses(
        head + timer.replace("\"missed\":", "\"recurrence\":\"cron 0 0 30 2 * UTC\",\"missed\":"),
        "line 2: recurrence: cron");
    refuses(head + "{\"a\":".repeat(50), "line 2: is no JSON: Document nesting depth");
    assertThat(other.counts()).isEmpty();
  }

  @Test
  void transfersAJitterWithItsOffset() {
    Fixture fixture = new Fixture(store);
    fixture.fill();
    String jittered = "\"recurrence\":\"jitter PT5M PT1M2.345S every PT1H\"";
    String text = export(store).replaceAll("\"recurrence\":\"[^\"]+\"", jittered);
    assertThat(text).contains(jittered);
    load(other, text);
    assertThat(export(other)).contains(jittered);
  }

  @Test
  void importsTheLinesBeforeAnInvalidOne() {
    Fixture fixture = new Fixture(store);
    int batch = store.traits().maxBatch();
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < batch + 500; i++) {
      changes.add(schedule("id-%06d".formatted(i), NOW));
    }
    fixture.store.commit(changes.subList(0, batch));
    fixture.store.commit(changes.subList(batch, batch + 500));
    String good = export(store);
    String wrong = good.replace("\"id-%06d\"".formatted(batch + 400), "5");
    refuses(wrong, "line " + (batch + 402) + ": id: 5 (expected: a text)");
    assertThat(other.counts().get("shop")).containsEntry(TimerState.SCHEDULED, (long) batch);
    assertThat(load(other, good)).isEqualTo(500);
    assertThat(Fixture.all(other)).isEqualTo(Fixture.all(store));
  }

  @Test
  void throwsTheFailureOfTheStream() {
    new Fixture(store).fill();
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("disk full");
          }
        };
    assertThatThrownBy(() -> store.exportTo(full))
        .isInstanceOf(UncheckedIOException.class)
        .hasRootCauseMessage("disk full");
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("unplugged");
          }

          @Override
          public int read(byte[] to, int start, int length) throws IOException {
            throw new IOException("unplugged");
          }
        };
    assertThatThrownBy(() -> other.importFrom(broken))
        .isInstanceOf(UncheckedIOException.class)
        .hasRootCauseMessage("unplugged");
    assertThat(store.verify().isClean()).isTrue();
  }
}
