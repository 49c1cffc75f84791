// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testing;

import net.jqwik.api.AfterFailureMode;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/**
 * Sets the {@link Seed} of all jqwik properties, which would be random otherwise. {@code
 * -Dtimewheel.tries=N} sets the number of their tries. jqwik loads this class as a service.
 */
public final class SeededProperties implements AroundPropertyHook {
  @Override
  public PropertyExecutionResult aroundProperty(
      PropertyLifecycleContext context, PropertyExecutor property) {
    context.attributes().setAfterFailure(AfterFailureMode.RANDOM_SEED); // not that of the failure
    if (context.attributes().seed().isEmpty()) {
      context.attributes().setSeed(Long.toString(Seed.get()));
    }
    Integer tries = Integer.getInteger("timewheel.tries");
    if (tries != null) {
      context.attributes().setTries(tries);
    }
    return property.execute();
  }
}
