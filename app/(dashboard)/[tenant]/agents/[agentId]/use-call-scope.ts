import { useMemo } from 'react'
import { isJsonObject, type JsonObject } from '@/server/definition/json'
import type { FieldType } from '@/server/definition/schema'
import { isNameable, referenceText } from '@/server/definition/template'
import type { ScopeEntry } from '../../workflows/[id]/widgets/scope-context'
import { useInputSchema } from '../../workflows/[id]/widgets/use-input-schema'
import type { Use } from './use'

const ARGUMENTS = {
  ...{ name: 'args', label: 'Arguments', required: false },
  ...({ widget: 'arguments', of: 'id', version: 'version', resource: 'tool' } as const),
}

/** What a hand-over passes on. */
const MESSAGE: JsonObject = { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] }
const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array']

/** The names of a call's arguments, and the values that the expressions of its policy can use. */
export function useCallScope(noun: 'tool' | 'agent', { id, version }: Use): { names: string[]; entries: ScopeEntry[] } {
  const tool = useInputSchema(ARGUMENTS, noun === 'tool' ? { id, version } : {})
  const schema = noun === 'tool' ? tool.schema : MESSAGE
  return useMemo(() => {
    const properties = isJsonObject(schema?.properties) ? Object.entries(schema.properties) : []
    const required = Array.isArray(schema?.required) ? schema.required : []
    const args = properties
      .filter(([name]) => isNameable(name))
      .map(([name, property]) =>
        entry(referenceText(['args', name]), typeOf(property), 'the call', !required.includes(name)),
      )
    const others = [
      entry('dataContext', 'object', 'the message', false),
      entry('context', 'object', 'the caller', false),
    ]
    return { names: properties.map(([name]) => name), entries: [...args, ...others] }
  }, [schema])
}

function typeOf(property: unknown): FieldType {
  const type = isJsonObject(property) ? property.type : undefined
  return TYPES.includes(type) ? (type as FieldType) : 'any'
}

/** Entries name the call where others name a step. */
function entry(name: string, type: FieldType, from: string, maybe: boolean): ScopeEntry {
  return { name, type, description: null, from: 'step', stepId: from, maybe, last: null }
}
