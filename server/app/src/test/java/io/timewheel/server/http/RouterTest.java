// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.timewheel.server.security.Role;
import org.junit.jupiter.api.Test;

class RouterTest {
  private final Router router = new Router();

  @Test
  void aRouteThatMayChangeSomethingCannotBeAddedAsARead() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> router.read(Route.of("POST", "/v1/backups", Role.ADMIN), exchange -> {}))
        .withMessage("POST /v1/backups");
  }

  @Test
  void aRouteThatOnlyReadsCannotBeAddedAsAWrite() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                router.write(
                    Route.of("GET", "/v1/backups", Role.ADMIN),
                    exchange -> Body.text(1, body -> {})))
        .withMessage("GET /v1/backups");
  }
}
