import type { JsonValue } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { isObject } from './json-text'

/** The only values that fields of START and of forms may have, by the names that `${…}` uses. */
export function fieldChoices(definition: Definition, catalog: Catalog): ReadonlyMap<string, readonly JsonValue[]> {
  const found = new Map<string, readonly JsonValue[]>()
  const add = (fields: JsonValue | undefined, within: string[]) => {
    for (const [name, field] of isObject(fields) ? Object.entries(fields) : []) {
      if (!isObject(field) || !Array.isArray(field.options)) continue
      for (const before of ['', ...within]) found.set(before + name, field.options)
    }
  }
  for (const step of definition.steps) {
    const form = catalog.steps.find(({ type }) => type === step.type)?.form ?? []
    const declared = form.filter(({ widget, declares }) => widget === 'fields' && declares)
    for (const { name } of declared) add(step[name], [`${step.id}.`])
  }
  add(definition.payload, [])
  return found
}
