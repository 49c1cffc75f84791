// SPDX-License-Identifier: Apache-2.0

/** The program: durable timers behind an HTTP API. ADR 0012 says how it is built. */
@NullMarked
package io.timewheel.server;

import org.jspecify.annotations.NullMarked;
