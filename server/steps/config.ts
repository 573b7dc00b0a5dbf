import type { JsonObject } from '../definition/json'
import { CommonConfig, type StepConfig } from '../definition/step-config'
import type { AnyStep } from './define-step'

/** A step's own and common configuration, parsed. @throws z.ZodError */
export function parseConfig(type: AnyStep, config: JsonObject): StepConfig {
  return Object.assign({}, CommonConfig.parse(config), type.config.parse(config))
}
