// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

/** Answers the requests of a route, at once or later. An exception becomes a problem. */
public interface Action {
  void handle(Exchange exchange) throws Exception;
}
