// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Provides one browser to all tests that need one. JUnit closes it after the last test. Without an
 * installed browser, the tests are skipped.
 */
final class InBrowser implements ExecutionCondition, ParameterResolver {
  private static final boolean INSTALLED =
      Browser.DRIVER.canExecute() && Browser.CHROMIUM.canExecute();

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (INSTALLED) {
      return ConditionEvaluationResult.enabled("there is a browser");
    }
    String why =
        "%s needs %s and %s (apt-get install chromium chromium-driver)"
            .formatted(context.getDisplayName(), Browser.CHROMIUM, Browser.DRIVER);
    System.err.println("SKIPPED: " + why);
    return ConditionEvaluationResult.disabled(why);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Browser.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(Namespace.GLOBAL)
        .computeIfAbsent(Browser.class, key -> Browser.open(), Browser.class);
  }
}
