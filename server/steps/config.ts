import type { JsonObject } from '../definition/json'
import { type AnyStep, CommonConfig } from './define-step'

/** A step's own and common configuration, parsed. @throws z.ZodError */
export function parseConfig(type: AnyStep, config: JsonObject): JsonObject & CommonConfig {
  return { ...CommonConfig.parse(config), ...(type.config.parse(config) as JsonObject) } as JsonObject & CommonConfig
}
