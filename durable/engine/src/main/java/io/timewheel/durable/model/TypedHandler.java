// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/**
 * Handles the firings of durable timers, with the payload as an object.
 *
 * @param <T> the type of the payload
 */
@FunctionalInterface
public interface TypedHandler<T> {
  /**
   * Handles a firing; see {@link Handler#handle}.
   *
   * @param firing the firing
   * @param payload its payload
   * @throws Exception if the attempt failed
   */
  void handle(Firing firing, T payload) throws Exception;
}
