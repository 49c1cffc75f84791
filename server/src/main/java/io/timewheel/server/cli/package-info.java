// SPDX-License-Identifier: Apache-2.0

/**
 * The command line. All commands except {@code serve}, {@code config} and {@code store} are clients
 * of the HTTP API, so that any other program can do the same. The entry is {@link
 * io.timewheel.server.cli.Timewheel}, which makes the command line.
 *
 * <p>Read {@code Globals} (options of all commands), {@code ApiClient} and {@code Printer} first,
 * then {@code TimersCommand} as an example of a client. {@code StoreCommand} works on {@code Data},
 * the store itself or a copy of it. {@code ServeOptions} and {@code DatabaseOptions} are the
 * settings of a server, which {@code ConfigCommand} shows.
 */
@NullMarked
package io.timewheel.server.cli;

import org.jspecify.annotations.NullMarked;
