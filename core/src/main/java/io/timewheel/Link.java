// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * One element of a circular, doubly linked list that is closed by a {@link Slot}.
 *
 * <p>The links are guarded by the lock of the stripe whose wheel the list belongs to. An element
 * that is on no list links to itself, so that a handle which somebody keeps never holds on to its
 * former neighbours.
 */
abstract sealed class Link permits Slot, WheelTimeout {
  Link prev = this;
  Link next = this;
}
