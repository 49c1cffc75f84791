// SPDX-License-Identifier: Apache-2.0
/**
 * A shop on Spring Boot that cancels orders which are not paid in time, even if its process is
 * killed.
 */
@NullMarked
package io.timewheel.examples.orders;

import org.jspecify.annotations.NullMarked;
