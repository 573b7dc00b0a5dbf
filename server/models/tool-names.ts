import { idTail } from '../ids'

/** What every provider accepts. */
const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/
const MAX_WORDS = 51

/**
 * The name by which a model knows a tool. It is the tool's id if providers accept that; otherwise its start and a tail from
 * the whole, so that two tools never have the same one.
 */
export function modelToolName(id: string): string {
  if (ACCEPTED.test(id)) return id
  const words = id.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_WORDS)
  return `${words}_${idTail(id)}`
}
