// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

/** Answers the requests of a route, now or later. An exception is answered as a problem. */
public interface Action {
  void handle(Exchange exchange) throws Exception;
}
