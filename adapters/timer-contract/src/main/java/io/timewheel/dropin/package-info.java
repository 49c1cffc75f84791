// SPDX-License-Identifier: Apache-2.0
/**
 * Contract tests for adapters: the behaviour that users of another library's timer rely on. {@link
 * io.timewheel.dropin.DropIn} connects the tests to the library. Each adapter has one subclass of
 * every contract.
 */
package io.timewheel.dropin;
