import type { JsonObject } from '../json'
import type { Step } from '../workflows/schema'
import { type AnyStep, CommonConfig } from './define-step'

/** The part of a step in which `${…}` is resolved: what its type itself defines. */
export function templatedConfig(step: Step): JsonObject {
  const {
    id: _id,
    type: _type,
    name: _name,
    description: _description,
    position: _position,
    retry: _retry,
    ...config
  } = step
  return config
}

/** A step's own and common configuration, parsed. @throws z.ZodError */
export function parseConfig(type: AnyStep, config: JsonObject): JsonObject & CommonConfig {
  return { ...CommonConfig.parse(config), ...(type.config.parse(config) as JsonObject) } as JsonObject & CommonConfig
}
