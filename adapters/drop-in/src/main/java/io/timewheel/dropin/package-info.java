// SPDX-License-Identifier: Apache-2.0
/**
 * The behaviour that users of another library's timer rely on, as tests. {@link
 * io.timewheel.dropin.DropIn} adapts the tests to the library, and each adapter extends every
 * contract once.
 */
package io.timewheel.dropin;
