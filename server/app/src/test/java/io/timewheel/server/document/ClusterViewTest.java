// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.api.ClusterAnswer;
import io.timewheel.durable.jdbc.Membership;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonPage;
import io.timewheel.server.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A cluster with more nodes than fit into an answer. */
class ClusterViewTest {
  private final ClusterView view =
      new ClusterView(new Node(InstantSource.system(), () -> "here:7400"));

  /** Returns the longest name of a node or a handler, in its JSON form. */
  private static String name(int number) {
    return "\"".repeat(250) + "%06d".formatted(number);
  }

  private static Membership.Node node(int number, boolean alive, int handlers) {
    Set<String> names =
        IntStream.range(0, handlers).mapToObj(ClusterViewTest::name).collect(Collectors.toSet());
    return new Membership.Node(
        name(number),
        number == 0,
        alive,
        Instant.MAX,
        Duration.ofNanos(-999_999_999_999_999L),
        false,
        new HandlerNames(names, names));
  }

  private static List<Membership.Shard> shards() {
    return IntStream.range(0, 1_024)
        .mapToObj(shard -> new Membership.Shard(shard, name(shard % 50), Long.MAX_VALUE))
        .toList();
  }

  private ClusterAnswer answer(List<Membership.Node> nodes) {
    return view.answer("postgresql", true, new Membership(nodes, shards()));
  }

  @Test
  void anAnswerEndsAt4Mb() {
    ClusterAnswer many =
        answer(IntStream.range(0, 5_000).mapToObj(each -> node(each, true, 50)).toList());
    assertThat(Json.bytes(many)).hasSizeLessThan(JsonPage.MAX_BYTES);
    assertThat(many.truncated()).isTrue();
    assertThat(many.nodes()).hasSize(1_000);
    assertThat(many.nodes().get(0).handlers()).hasSize(100);
    ClusterAnswer few = answer(List.of(node(0, true, 50), node(1, false, 0)));
    assertThat(few.truncated()).isFalse();
    assertThat(few.nodes()).hasSize(2);
  }

  @Test
  void omitsTheNodesThatWereLostFirst() {
    ClusterAnswer answer =
        answer(IntStream.range(0, 1_500).mapToObj(each -> node(each, each % 3 == 0, 0)).toList());
    assertThat(answer.truncated()).isTrue();
    assertThat(answer.nodes()).hasSize(1_000);
    assertThat(answer.nodes()).filteredOn(ClusterAnswer.Node::alive).hasSize(500);
    assertThat(answer.nodes().get(999).id()).isEqualTo(name(1_499));
  }
}
