// SPDX-License-Identifier: Apache-2.0

/**
 * JSON documents. The entry is {@link io.timewheel.server.json.JsonReader}, which parses a document
 * strictly into a record of {@code io.timewheel.api}. {@code Json} writes records, and {@code
 * JsonPage} writes a page of a list up to a size. {@code UniqueNamesParser} refuses duplicate
 * fields. {@code Elements} separates the elements of a batch as they arrive, and each of them is
 * {@code Parsed}, so that it may be refused alone.
 */
@NullMarked
package io.timewheel.server.json;

import org.jspecify.annotations.NullMarked;
