/** The values of a form or a query; a name that was sent more than once has all of them, in order. */
export type ByName = Record<string, string | string[]>

export function byName(pairs: Iterable<[name: string, value: string]>): ByName {
  const values = new Map<string, string | string[]>()
  for (const [name, value] of pairs) {
    const known = values.get(name)
    values.set(name, known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value])
  }
  return Object.fromEntries(values)
}
