// SPDX-License-Identifier: Apache-2.0
/**
 * A shop on Spring Boot that cancels orders that are not paid in time, even after its process was
 * killed and restarted.
 */
@NullMarked
package io.timewheel.examples.orders;

import org.jspecify.annotations.NullMarked;
