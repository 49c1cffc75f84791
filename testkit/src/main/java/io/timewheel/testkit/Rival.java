// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A task that cancels another timeout. */
final class Rival implements TimerTask {
  volatile @Nullable Timeout other;
  volatile boolean ran;
  volatile boolean cancelledOther;

  @Override
  public void run(Timeout timeout) {
    ran = true;
    cancelledOther = Objects.requireNonNull(other).cancel();
  }
}
