// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that makes a broken timer, with the tests of the contract that must fail for it.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface FoundBy {
  /** Returns the names of the tests. */
  String[] value();
}
