import type { JsonObject } from './json'
import type { Step } from './schema'

/** The part of a step in which `${…}` is resolved: the settings its type defines. */
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
