import type { OpenApiDocument } from '../openapi/types'

type Components = OpenApiDocument['components']
type Shared = Pick<Components, 'schemas' | 'parameters' | 'headers' | 'examples'>
const GROUPS = ['schemas', 'parameters', 'headers', 'examples'] as const

/** The components of the API document that the parts refer to, directly or indirectly. */
export function usedOf(parts: object, components: Components): Shared {
  const used: Shared = { schemas: {}, parameters: {}, headers: {}, examples: {} }
  const waiting: object[] = [parts]
  for (const part of waiting) {
    for (const [, group = '', name = ''] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const known = GROUPS.find((one) => one === group)
      const found = known && Object.hasOwn(components[known], name) ? components[known][name] : undefined
      if (!known || found === undefined || Object.hasOwn(used[known], name)) continue
      Object.assign(used[known], { [name]: found })
      waiting.push(found)
    }
  }
  return { ...used, schemas: inOrder(used.schemas), examples: inOrder(used.examples) }
}

function inOrder<T>(group: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1)))
}
