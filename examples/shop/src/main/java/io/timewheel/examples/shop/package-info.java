// SPDX-License-Identifier: Apache-2.0
/** A shop on Spring Boot and PostgreSQL, which writes an order and its timer in one transaction. */
@NullMarked
package io.timewheel.examples.shop;

import org.jspecify.annotations.NullMarked;
