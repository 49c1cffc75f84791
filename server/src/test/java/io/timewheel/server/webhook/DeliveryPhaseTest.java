// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class DeliveryPhaseTest {
  /** The resolver removes a lookup only after the connection has been tried. */
  @Test
  void aRefusedConnectionIsNoFailureOfTheLookup() {
    assertThat(DeliveryPhase.of(new ConnectException("refused"), DeliveryPhase.DNS))
        .isEqualTo(DeliveryPhase.CONNECT);
    assertThat(DeliveryPhase.of(new NoRouteToHostException("none"), DeliveryPhase.DNS))
        .isEqualTo(DeliveryPhase.CONNECT);
    assertThat(
            DeliveryPhase.of(new IOException(new UnknownHostException("x")), DeliveryPhase.CONNECT))
        .isEqualTo(DeliveryPhase.DNS);
    assertThat(DeliveryPhase.of(new IOException("closed"), DeliveryPhase.SEND))
        .isEqualTo(DeliveryPhase.SEND);
  }

  /** Another delivery to the same host may have queued a lookup since. */
  @Test
  void aRefusedConnectionIsAFailureWhileALookupOfTheHostWaits() {
    assertThat(DeliveryPhase.isBefore(new ConnectException("refused"), false)).isFalse();
    assertThat(DeliveryPhase.isBefore(new RefusedAddressException(), false)).isFalse();
    assertThat(DeliveryPhase.isBefore(new TimeoutException(), false)).isTrue();
    assertThat(DeliveryPhase.isBefore(new TimeoutException(), true)).isFalse();
    assertThat(DeliveryPhase.isBefore(new TimeoutException(), null)).isFalse();
    assertThat(DeliveryPhase.isBefore(new NoSlotException(), null)).isTrue();
  }
}
