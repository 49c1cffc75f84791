// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

/** A set of permissions. Each role includes those before it. */
public enum Role {
  /** No permission: for routes that need no token. */
  OPEN,
  READ,
  WRITE,
  ADMIN
}
