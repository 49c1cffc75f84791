// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FairLimitTest {
  @ParameterizedTest
  @CsvSource({"2, 1", "7, 6", "8, 7", "15, 14", "16, 14", "12000, 10500"})
  void oneClientLeavesAnEighthAndAtLeastOneToTheOthers(int max, int ofOne) {
    FairLimit limit = new FairLimit(max);
    for (int i = 0; i < ofOne; i++) {
      assertThat(limit.take("a")).isNull();
    }
    assertThat(limit.take("a")).isEqualTo("limit of one client: " + ofOne);
    for (int i = ofOne; i < max; i++) {
      assertThat(limit.take("b")).isNull();
    }
    assertThat(limit.take("b")).isEqualTo("limit: " + max);
    assertThat(limit.take("a")).as("the limit of all is reached, too").isEqualTo("limit: " + max);
  }

  @Test
  void aLimitOfZeroRefusesEveryClient() {
    FairLimit limit = new FairLimit(0);
    assertThat(limit.take("a")).isEqualTo("limit: 0");
    assertThat(limit.take(null)).isEqualTo("limit: 0");
  }

  @Test
  void aLimitOfOneAdmitsAnyClient() {
    FairLimit limit = new FairLimit(1);
    assertThat(limit.take("a")).isNull();
    assertThat(limit.take("b")).isEqualTo("limit: 1");
    limit.release("a");
    assertThat(limit.take("b")).isNull();
  }

  @Test
  void aClientWithoutANameLeavesNoneToTheOthers() {
    FairLimit limit = new FairLimit(7);
    for (int i = 0; i < 7; i++) {
      assertThat(limit.take(null)).isNull();
    }
    assertThat(limit.take(null)).isEqualTo("limit: 7");
    limit.release(null);
    assertThat(limit.take("a")).isNull();
  }

  @Test
  void aRefusedTakeCountsNothingAndAReleaseMakesRoomForOne() {
    FairLimit limit = new FairLimit(8);
    for (int pass = 0; pass < 100; pass++) {
      for (int i = 0; i < 7; i++) {
        assertThat(limit.take("a")).isNull();
      }
      assertThat(limit.take("a")).isNotNull();
      assertThat(limit.take(null)).isNull();
      assertThat(limit.take(null)).isNotNull();
      assertThat(limit.take("b")).isNotNull();
      limit.release(null);
      for (int i = 0; i < 7; i++) {
        limit.release("a");
      }
    }
  }
}
