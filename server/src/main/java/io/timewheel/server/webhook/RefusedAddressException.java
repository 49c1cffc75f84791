// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.io.IOException;

/** The host of a target has no address that the server may call. */
public final class RefusedAddressException extends IOException {
  private static final long serialVersionUID = 1L;

  /** The addresses themselves are not shown: they would map the inner network for a stranger. */
  RefusedAddressException() {
    super("the host is not on the public internet; the operator may admit it with --allow-target");
  }
}
