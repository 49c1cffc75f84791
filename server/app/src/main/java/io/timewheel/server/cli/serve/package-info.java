// SPDX-License-Identifier: Apache-2.0

/**
 * The command {@code serve} and its settings. {@code ServeOptions} contains the settings of a
 * server in groups, such as {@code NetworkOptions}. {@link
 * io.timewheel.server.cli.serve.ServeCommand} runs the server, and {@code ConfigCommand} shows its
 * settings.
 */
@NullMarked
package io.timewheel.server.cli.serve;

import org.jspecify.annotations.NullMarked;
