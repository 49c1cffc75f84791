// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks members of a seam that {@link Weaver} copies into the application's class. All other
 * members of a seam represent members that the application's class has.
 */
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.FIELD, ElementType.METHOD})
@interface Woven {}
