// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import picocli.CommandLine.IVersionProvider;

/** Prints the version of the jar, of Java and of the operating system. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = Version.class.getPackage().getImplementationVersion();
    return new String[] {
      "timewheel " + (version == null ? "(not from a jar)" : version), "Java " + Runtime.version()
    };
  }
}
