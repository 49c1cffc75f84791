// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.io.IOException;

/** Thrown if the host of a target has no address that the server may connect to. */
public final class RefusedAddressException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception without the addresses, which would reveal the internal network. */
  RefusedAddressException() {
    super("the address is not public; the operator may admit it with --allow-target");
  }
}
