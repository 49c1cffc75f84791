// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

/**
 * Answers the requests of a route, at once or later. An exception becomes a problem. The step runs
 * when it is the turn of the request, before the deadline of its answer.
 */
public interface Action {
  void handle(Exchange exchange) throws Exception;

  /** The action of a route that may change something. */
  interface Write {
    /**
     * Checks the head of a request. This step has no turn and no deadline, so it must not wait for
     * the store.
     *
     * @return the body to read, and the step that then answers as an {@link Action} does
     */
    Body<?> begin(Exchange exchange);
  }
}
