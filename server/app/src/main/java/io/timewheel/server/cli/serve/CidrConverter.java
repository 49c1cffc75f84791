// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.server.settings.Cidr;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts the text of an option to a block of addresses. */
final class CidrConverter implements ITypeConverter<Cidr> {
  @Override
  public Cidr convert(String text) {
    try {
      return Cidr.parse(text.strip());
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
