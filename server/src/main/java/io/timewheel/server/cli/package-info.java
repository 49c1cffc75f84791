// SPDX-License-Identifier: Apache-2.0

/**
 * The command line. All commands but {@code serve} and {@code store} are clients of the HTTP API:
 * what they can do, any program can.
 */
@NullMarked
package io.timewheel.server.cli;

import org.jspecify.annotations.NullMarked;
