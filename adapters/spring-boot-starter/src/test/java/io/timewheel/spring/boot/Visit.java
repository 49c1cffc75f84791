// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** A row that JPA writes together with a timer. */
@Entity
class Visit {
  @Id private String id;

  /** Called by JPA. */
  protected Visit() {}

  Visit(String id) {
    this.id = id;
  }

  String id() {
    return id;
  }
}
