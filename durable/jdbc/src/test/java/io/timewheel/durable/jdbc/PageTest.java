// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PageTest {
  final Fixture fixture = new Fixture(Server.of(this));
  final Fixture.Node node = fixture.open();

  @AfterEach
  void close() {
    fixture.close();
  }

  private TimerPage page(boolean payload, int limit) {
    EnumSet<TimerState> all = EnumSet.allOf(TimerState.class);
    return node.store.page(
        new TimerQuery("shop", "", all, Long.MIN_VALUE, Long.MAX_VALUE, null, payload),
        null,
        limit);
  }

  @Test
  void readsPayloadsOnlyIfTheyAreAskedFor() {
    node.commit(schedule("a", NOW, new byte[] {1, 2}, false));
    assertThat(page(false, 10).records())
        .extracting(record -> record.definition().payload())
        .containsExactly(new byte[0]);
    assertThat(page(true, 10).records())
        .extracting(record -> record.definition().payload())
        .containsExactly(new byte[] {1, 2});
  }

  @Test
  void putsAPageTogetherFromBothTables() {
    List<Change> changes = new ArrayList<>();
    for (int i = 100; i < 230; i++) {
      changes.add(schedule("id-" + i, NOW));
    }
    node.store.commit(changes);
    node.store.commit(
        changes.stream()
            .filter(change -> change.key().id().endsWith("7"))
            .<Change>map(change -> new Change.Cancel(change.key(), 0, NOW))
            .toList());
    for (boolean payload : new boolean[] {false, true}) {
      TimerPage all = page(payload, 130);
      assertThat(all.records())
          .extracting(TimerRecord::key)
          .isEqualTo(changes.stream().map(Change::key).toList());
      assertThat(all.next()).isNull();
      assertThat(page(payload, 129).next()).isEqualTo(key("id-228"));
    }
  }
}
