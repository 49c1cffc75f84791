// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.event.EventStream.Topic;
import io.timewheel.server.node.ChangeFeed;
import io.timewheel.server.security.Scope;
import java.io.EOFException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;

/** Tests streams pulse by pulse, on connections that accept data when the test allows it. */
class EventStreamTest {
  private final ChangeFeed feed = new ChangeFeed(ChangeFeed.CAPACITY);

  /** A connection that reads only on request. */
  private static final class Client implements EventStream.Out {
    final List<String> chunks = new ArrayList<>();
    Callback pending;
    boolean reads = true;
    boolean ended;
    Throwable aborted;

    @Override
    public void write(byte[] chunk, Callback written) {
      assertThat(pending).as("one chunk at a time").isNull();
      chunks.add(new String(chunk, StandardCharsets.UTF_8));
      if (reads) {
        written.succeeded();
      } else {
        pending = written;
      }
    }

    void read() {
      Callback written = pending;
      pending = null;
      written.succeeded();
    }

    @Override
    public void end() {
      ended = true;
    }

    @Override
    public void abort(Throwable failure) {
      aborted = failure;
    }

    String all() {
      return String.join("", chunks);
    }

    long events(String type) {
      return all().lines().filter(("event: " + type)::equals).count();
    }

    String lastId() {
      return all()
          .lines()
          .filter(line -> line.startsWith("id: "))
          .reduce((a, b) -> b)
          .orElseThrow()
          .substring(4);
    }
  }

  private EventStream stream(Client client, Scope scope, String lastId, Topic... types) {
    EventStream stream =
        new EventStream(scope, EnumSet.copyOf(List.of(types)), feed, client, lastId);
    stream.begin();
    return stream;
  }

  private void changes(int count, String namespace) {
    for (int i = 0; i < count; i++) {
      feed.add(0, new TimerKey(namespace, "t" + i), 7, TimerState.SCHEDULED, "created");
    }
  }

  private void pulse(EventStream stream, int times) {
    for (int i = 0; i < times; i++) {
      stream.pulse(new FeedSlices(feed));
    }
  }

  @Test
  void aChangeIsAMessageWithItsId() {
    Client client = new Client();
    EventStream stream = stream(client, Scope.ALL, null, Topic.TIMER);
    changes(1, "shop");
    pulse(stream, 1);
    assertThat(client.chunks.get(1))
        .isEqualTo(
            "id: "
                + client.lastId()
                + "\n"
                + "event: timer\n"
                + "data:"
                + " {\"at\":\"1970-01-01T00:00:00Z\",\"namespace\":\"shop\",\"id\":\"t0\",\"version\":7,\"state\":\"scheduled\",\"change\":\"created\"}\n\n");
  }

  @Test
  void aStreamBeginsAfterIt() {
    changes(3, "shop");
    Client client = new Client();
    pulse(stream(client, Scope.ALL, null, Topic.TIMER), 1);
    assertThat(client.events("timer")).isZero();
  }

  @Test
  void aStreamResumesBehindTheLastId() {
    Client first = new Client();
    EventStream stream = stream(first, Scope.ALL, null, Topic.TIMER);
    changes(3, "shop");
    pulse(stream, 1);
    changes(2_000, "shop");
    Client second = new Client();
    EventStream resumed = stream(second, Scope.ALL, first.lastId(), Topic.TIMER);
    pulse(resumed, 10);
    assertThat(second.all()).startsWith("id: ").contains("\"id\":\"t0\"");
    assertThat(second.events("timer")).isEqualTo(2_000);
    assertThat(second.events("dropped")).isZero();
  }

  @Test
  void anOldIdIsReportedAsDropped() {
    changes(ChangeFeed.CAPACITY + 1, "shop");
    for (String id : new String[] {"1-0", "0-5", "nonsense", "1-" + "z".repeat(12)}) {
      Client client = new Client();
      EventStream stream = stream(client, Scope.ALL, id, Topic.TIMER);
      assertThat(client.all()).as(id).contains("event: dropped\ndata: {}\n\n");
      pulse(stream, 100);
      assertThat(client.events("dropped")).as(id).isEqualTo(1);
    }
  }

  @Test
  void aClientReceivesABurstAndThen200PerSecond() {
    Client client = new Client();
    EventStream stream = stream(client, Scope.ALL, null, Topic.TIMER);
    for (int second = 0; second < 60; second++) {
      changes(1_000, "shop");
      pulse(stream, 10);
    }
    long sent = client.events("timer");
    assertThat(sent).isBetween(60L * 200, 60L * 200 + EventStream.BURST);
    assertThat(client.events("dropped")).isBetween(50L, 60L);
    pulse(stream, 10);
    long dropped =
        client
            .all()
            .lines()
            .filter(line -> line.startsWith("data: {\"count\":"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
            .sum();
    assertThat(sent + dropped).isEqualTo(60_000);
  }

  @Test
  void aSlowClientHasOneChunkInMemoryAndReceivesTheNumberOfDroppedChanges() {
    Client client = new Client();
    EventStream stream = stream(client, Scope.ALL, null, Topic.TIMER, Topic.STATS);
    client.reads = false;
    for (int i = 0; i < 100; i++) {
      changes(1_000, "shop");
      stream.stats(("{\"n\":" + i + "}").getBytes(StandardCharsets.UTF_8));
      pulse(stream, 10);
    }
    assertThat(client.chunks).hasSize(2);
    client.reads = true;
    client.read();
    pulse(stream, 20);
    assertThat(client.events("dropped")).isPositive();
    assertThat(client.all()).contains("{\"n\":99}").doesNotContain("{\"n\":98}");
    changes(1, "shop");
    pulse(stream, 1);
    assertThat(feed.resumeAt(client.lastId())).isEqualTo(feed.next());
  }

  @Test
  void idsRevealNoNumberOfChanges() {
    Client client = new Client();
    EventStream stream = stream(client, new Scope(Set.of("shop")), null, Topic.STATS);
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      changes(i / 4, "other"); // none, and then some
      stream.stats(new byte[] {'1'});
      pulse(stream, 1);
      ids.add(client.lastId());
    }
    assertThat(ids).doesNotHaveDuplicates().allMatch(id -> id.matches("[0-9a-f-]{36}"));
    assertThat(feed.resumeAt(ids.get(0))).isEqualTo(1);
    assertThat(feed.resumeAt(new ChangeFeed(1).id(0))).as("of another process").isZero();
    assertThat(feed.resumeAt("1-0")).isZero();
    assertThat(feed.resumeAt("a/b")).isZero();
  }

  @Test
  void aStreamContainsOnlyItsNamespaces() {
    Client client = new Client();
    EventStream stream = stream(client, new Scope(Set.of("shop")), null, Topic.TIMER);
    for (int i = 0; i < 100; i++) {
      changes(1, "shop");
      changes(50, "other");
      pulse(stream, 1);
    }
    assertThat(client.events("timer")).isEqualTo(100);
    assertThat(client.events("dropped")).isZero();
    assertThat(client.all()).doesNotContain("other");
  }

  @Test
  void droppedChangesOfSomeNamespacesHaveNoCount() {
    Client client = new Client();
    EventStream stream = stream(client, new Scope(Set.of("shop")), null, Topic.TIMER);
    client.reads = false;
    changes(1, "shop");
    pulse(stream, 1);
    changes(2 * ChangeFeed.CAPACITY, "other");
    client.reads = true;
    client.read();
    pulse(stream, 1);
    assertThat(client.all()).contains("event: dropped\ndata: {}\n\n");
  }

  @Test
  void figuresAreSentOnceAndTheLatestOnly() {
    Client client = new Client();
    EventStream stream = stream(client, Scope.ALL, null, Topic.STATS);
    stream.stats(new byte[] {'1'});
    stream.stats(new byte[] {'2'});
    pulse(stream, 3);
    assertThat(client.chunks).last().asString().endsWith("\nevent: stats\ndata: 2\n\n");
    assertThat(client.events("stats")).isEqualTo(1);
  }

  @Test
  void aQuietStreamIsPingedEach15Seconds() {
    Client client = new Client();
    EventStream stream = stream(client, Scope.ALL, null, Topic.TIMER);
    client.chunks.clear();
    pulse(stream, 149);
    assertThat(client.chunks).isEmpty();
    pulse(stream, 1);
    assertThat(client.chunks).containsExactly(": ping\n\n");
    pulse(stream, 150);
    assertThat(client.chunks).hasSize(2);
  }

  @Test
  void theEndComesAfterTheChunkThatIsBeingWritten() {
    Client client = new Client();
    EventStream stream = stream(client, Scope.ALL, null, Topic.TIMER);
    client.reads = false;
    changes(1, "shop");
    pulse(stream, 1);
    stream.end();
    assertThat(client.ended).isFalse();
    client.read();
    assertThat(client.ended).isTrue();
    changes(1, "shop");
    pulse(stream, 1);
    assertThat(client.events("timer")).isEqualTo(1);
  }

  @Test
  void aWriteThatFailsAbortsTheStream() {
    Client client = new Client();
    EventStream stream = stream(client, Scope.ALL, null, Topic.TIMER);
    client.reads = false;
    changes(1, "shop");
    pulse(stream, 1);
    client.pending.failed(new EOFException());
    assertThat(client.aborted).isInstanceOf(EOFException.class);
    client.pending = null;
    changes(1, "shop");
    pulse(stream, 1);
    assertThat(client.events("timer")).isEqualTo(1);
  }
}
