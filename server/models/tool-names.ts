import { idTail } from '../ids'

/** Accepted by every provider. */
const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/
const MAX_WORDS = 51

/**
 * The name by which a model knows a tool: the tool's id if providers accept it; otherwise its start and a digest of the
 * whole, so that no two tools share a name.
 */
export function modelToolName(id: string): string {
  if (ACCEPTED.test(id)) return id
  const words = id.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_WORDS)
  return `${words}_${idTail(id)}`
}
