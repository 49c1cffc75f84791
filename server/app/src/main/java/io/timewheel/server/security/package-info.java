// SPDX-License-Identifier: Apache-2.0

/**
 * Tokens, callers and their permissions. No class here depends on HTTP. The entry is {@link
 * io.timewheel.server.security.Authenticator}, which finds the {@code Caller} of a request by the
 * {@code Tokens} of the server. {@code Authorization} refuses a caller that lacks a {@code Role} or
 * a namespace, {@code Scope} limits views to the namespaces of a caller, and {@code AuditLog}
 * records each change.
 *
 * <p>Read {@code Role}, {@code Caller}, {@code Tokens}, {@code Authenticator}, {@code
 * Authorization} and {@code AuditLog} in this order.
 */
@NullMarked
package io.timewheel.server.security;

import org.jspecify.annotations.NullMarked;
