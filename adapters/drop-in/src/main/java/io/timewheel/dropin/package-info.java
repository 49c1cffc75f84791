// SPDX-License-Identifier: Apache-2.0
/**
 * What the users of another library's timer rely on, as tests: {@link io.timewheel.dropin.DropIn}
 * says how the tests speak to the library, and each contract is extended once for every adapter.
 */
package io.timewheel.dropin;
