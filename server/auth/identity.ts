import type { Actor, Reach } from '../context'
import type { JsonObject } from '../definition/json'

/** Who sent a request. */
export interface Identity {
  tenantId: string
  actor: Actor
  trusted: JsonObject | null
  /** What a token may touch if its secret is limited. */
  reach?: Reach | undefined
  /** When a token expires. */
  goodUntil?: Date | undefined
}
