// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.util.List;

/** The native library of the store, unpacked once for all children. */
final class NativeLibrary {
  private NativeLibrary() {}

  static List<String> jvmArguments() {
    return List.of();
  }
}
