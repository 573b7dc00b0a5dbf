import { fillText, type Lookup } from '../../definition/template'
import { fitsHeader } from './headers'
import { BadValue } from './outbound'
import { secretsIn } from './templates'

/**
 * The value of a header.
 * @throws BadValue, which names its secrets, because their values are never shown
 */
export function filledHeader(name: string, template: string, lookup: Lookup): string {
  const value = fillText(template, lookup)
  if (fitsHeader(value)) return value
  const secrets = secretsIn(template).map((one) => `\${secrets.${one}}`)
  const used = secrets.length === 0 ? '' : ` It is made of ${secrets.join(' and ')}.`
  const why = 'it contains a line break or a character outside Latin-1'
  throw new BadValue(`The header ${name} cannot have this value: ${why}.${used}`)
}
