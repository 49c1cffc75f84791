// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.problem.Problem;
import org.jspecify.annotations.Nullable;

/** The result of authenticating a request: a caller, or a refusal that open routes ignore. */
public record Authentication(@Nullable Caller caller, @Nullable Problem refusal) {
  /** {@return whether this caller sent the request} */
  public boolean isBy(Caller expected) {
    return caller != null && caller.mayAs(expected);
  }

  /** {@return the caller; throws the refusal if there is none} */
  public Caller orThrow() {
    if (refusal != null) {
      throw refusal.failure();
    }
    return requireNonNull(caller);
  }
}
