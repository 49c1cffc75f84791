// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import java.nio.ByteBuffer;

/** Receives the bytes of a body as they arrive. */
public interface BodySink<T> {
  void add(ByteBuffer bytes);

  /** {@return the body, when all of it has arrived} */
  T end();
}
