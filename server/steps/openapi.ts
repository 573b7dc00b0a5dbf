import type { z } from 'zod'
import { components } from '../definition/component'
import { CommonConfig } from '../definition/step-config'
import { StepId } from '../definition/step-ref'
import { plainSchema } from '../openapi/schema'
import type { Schema } from '../openapi/types'
import { steps } from './registry'

const TYPES: readonly { type: string; title: string; config: z.ZodType }[] = Object.values(steps)
for (const { type, config } of TYPES) components.add(config, { id: stepSchemaName(type) })

/**
 * One schema per step type. A draft may contain anything; publish and start check its steps against these.
 * @param configs the schemas of the types' configurations, by the names of the steps
 */
export function stepSchemas(configs: Record<string, Schema>): Record<string, Schema> {
  const common = plainSchema(CommonConfig)
  const schemas = TYPES.map(({ type, title }): [string, Schema] => {
    const name = stepSchemaName(type)
    const own = configs[name] ?? {}
    const description = `The step type \`${type}\`: ${title.toLowerCase()}. A draft may be incomplete; publish and start check this.`
    const properties: Record<string, Schema> = {
      id: plainSchema(StepId),
      type: { const: type },
      ...own.properties,
      ...common.properties,
    }
    const required = ['id', 'type', ...(own.required ?? [])]
    return [name, { type: 'object', description, properties, required }]
  })
  return Object.fromEntries(schemas)
}

/** `call-tool` is `CallToolStep`. */
export function stepSchemaName(type: string): string {
  return `${type.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase())}Step`
}
