// SPDX-License-Identifier: Apache-2.0

/**
 * JSON documents. The entry is {@link io.timewheel.server.json.JsonReader}, which reads a document
 * strictly; {@code Json} writes documents.
 */
@NullMarked
package io.timewheel.server.json;

import org.jspecify.annotations.NullMarked;
