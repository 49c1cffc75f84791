// SPDX-License-Identifier: Apache-2.0

/** The JSON of the HTTP API as records. */
module io.timewheel.api {
  requires transitive tools.jackson.databind;
  requires static org.jspecify;

  exports io.timewheel.api;

  opens io.timewheel.api to
      tools.jackson.databind; // which makes the deserializers
}
