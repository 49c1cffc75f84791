// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.orders;

/** The payload of a timer: enough to find the order, whose state may have changed. */
record OrderRef(String id) {}
