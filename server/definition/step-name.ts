import type { Step } from './schema'

/** A step's name, or its id if it has none. */
export function nameOf({ id, name }: Step): string {
  return typeof name === 'string' && name.trim() !== '' ? name : id
}
