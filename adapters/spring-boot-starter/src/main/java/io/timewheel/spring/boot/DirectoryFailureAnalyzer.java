// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why an application with durable timers does not start, and which property to change. */
final class DirectoryFailureAnalyzer extends AbstractFailureAnalyzer<DirectoryException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, DirectoryException cause) {
    return new FailureAnalysis(
        "The durable timers cannot be kept in the directory '"
            + cause.directory()
            + "' of the property 'timewheel.durable.directory':\n\n"
            + cause.reason(),
        "Set 'timewheel.durable.directory' to a writable directory that no other process uses, or"
            + " fix the cause above.",
        cause);
  }
}
