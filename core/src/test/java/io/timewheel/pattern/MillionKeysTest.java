// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import org.junit.jupiter.api.Tag;

/** Tests the patterns with a million keys. */
@Tag("proof")
class MillionKeysTest extends ManyKeysTest {
  @Override
  int keys() {
    return 1_000_000;
  }
}
