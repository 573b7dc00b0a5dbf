const LONGEST = 90
/** No field can have these names. */
const RESERVED = ['_', '__proto__', 'prototype', 'constructor']

/**
 * The name of a field with a label, such as `orderNumber` for "Order number". Always a valid name that is not taken.
 * @param otherwise the name for a label without a letter or digit of ASCII
 */
export function derivedName(label: string, taken: ReadonlySet<string> = new Set(), otherwise = 'field'): string {
  const words =
    label
      .replaceAll('ß', 'ss')
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .match(/[A-Za-z0-9_]+/g) ?? []
  const [first = '', ...rest] = words
  // A name stays as it is, and an abbreviation such as IBAN does not become iBAN.
  const start = first === first.toUpperCase() ? first.toLowerCase() : first.charAt(0).toLowerCase() + first.slice(1)
  const joined = start + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  const name = joined.replace(/^(?=\d)/, '_').slice(0, LONGEST)
  return free(name === '' ? otherwise : RESERVED.includes(name) ? `${name}_2` : name, taken)
}

function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  for (let n = 2; ; n++) if (!taken.has(`${name}_${n}`)) return `${name}_${n}`
}
