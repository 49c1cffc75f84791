// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.ExitCode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParentCommand;

/** A command directly below {@code timewheel}, with the global options. */
abstract class ClientCommand {
  @ParentCommand private @Nullable Timewheel root;

  /** {@return the global options of the command line} */
  final Globals globals() {
    return requireNonNull(root, "not on a command line").globals;
  }

  /** Calls the server, and prints the answer. */
  final int show(Call call) {
    globals().printer().fields(globals().client().call(call));
    return ExitCode.DONE;
  }
}
