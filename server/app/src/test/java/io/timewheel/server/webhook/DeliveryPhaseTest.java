// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class DeliveryPhaseTest {
  @Test
  void anUnknownHostIsAFailureOfDns() {
    assertThat(
            DeliveryPhase.of(new IOException(new UnknownHostException("x")), DeliveryPhase.CONNECT))
        .isEqualTo(DeliveryPhase.DNS);
    assertThat(DeliveryPhase.of(new IOException("closed"), DeliveryPhase.SEND))
        .isEqualTo(DeliveryPhase.SEND);
  }

  /** Another delivery may wait for a lookup of the same host when this one fails. */
  @Test
  void onlyATimeoutBeforeTheConnectionMayBeOneOfTheLookup() {
    DeliveryPhase connect = DeliveryPhase.CONNECT;
    assertThat(connect.mayWaitForLookup(new TimeoutException())).isTrue();
    assertThat(connect.mayWaitForLookup(new ConnectException("refused"))).isFalse();
    assertThat(connect.mayWaitForLookup(new SocketTimeoutException("connect"))).isFalse();
    assertThat(connect.mayWaitForLookup(new RefusedAddressException())).isFalse();
    assertThat(DeliveryPhase.SEND.mayWaitForLookup(new TimeoutException())).isFalse();
  }
}
