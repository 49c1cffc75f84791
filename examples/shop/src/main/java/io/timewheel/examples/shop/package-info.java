// SPDX-License-Identifier: Apache-2.0
/** A shop on Spring Boot and PostgreSQL: an order and its timer are one transaction. */
@NullMarked
package io.timewheel.examples.shop;

import org.jspecify.annotations.NullMarked;
