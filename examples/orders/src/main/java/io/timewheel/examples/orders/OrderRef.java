// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.orders;

/** What is kept with a timer: enough to find the order, whose state may have changed. */
record OrderRef(String id) {}
