import type { JsonObject } from '../definition/json'
import { CommonConfig, type StepConfig } from '../definition/step-config'
import type { AnyStep } from './define-step'

/**
 * Parses a step's common configuration and that of its type.
 * @throws z.ZodError
 */
export function parseConfig(type: AnyStep, config: JsonObject): StepConfig {
  return Object.assign({}, CommonConfig.parse(config), type.config.parse(config))
}
