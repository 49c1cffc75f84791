// SPDX-License-Identifier: Apache-2.0

/**
 * The command line. All commands except {@code serve}, {@code config} and {@code store} are clients
 * of the HTTP API, so any other client can do the same. The entry is {@link
 * io.timewheel.server.cli.Main}; {@code Timewheel} creates the command line.
 *
 * <p>Read {@code Globals} (options of all commands), {@code ApiClient} and {@code Printer} first,
 * then {@code TimersCommand} as an example of a client. {@code StoreCommand} works on {@code Data},
 * the store itself or a copy of it, and on databases; {@code CopyCommand} copies between them.
 */
@NullMarked
package io.timewheel.server.cli;

import org.jspecify.annotations.NullMarked;
