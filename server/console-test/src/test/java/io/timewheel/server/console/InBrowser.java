// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Lends each test class a browser. There are as many browsers as classes that run at the same time.
 * JUnit closes them after the last test. Without an installed browser, the tests are skipped.
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
    ExtensionContext root = context.getRoot();
    Pool pool =
        root.getStore(Namespace.GLOBAL).computeIfAbsent(Pool.class, key -> new Pool(), Pool.class);
    ExtensionContext ofClass = context;
    while (!ofClass.getParent().equals(Optional.of(root))) {
      ofClass = ofClass.getParent().orElseThrow();
    }
    return ofClass
        .getStore(Namespace.create(InBrowser.class))
        .computeIfAbsent(Loan.class, key -> pool.lend(), Loan.class)
        .browser;
  }

  /** The browsers that no class uses. */
  private static final class Pool implements AutoCloseable {
    private final Queue<Browser> idle = new ConcurrentLinkedQueue<>();

    Loan lend() {
      Browser browser = idle.poll();
      return new Loan(this, browser == null ? Browser.open() : browser);
    }

    @Override
    public void close() {
      idle.forEach(Browser::close);
    }
  }

  /** The browser of a class until its last test. */
  private record Loan(Pool pool, Browser browser) implements AutoCloseable {
    @Override
    public void close() {
      pool.idle.add(browser);
    }
  }
}
