import type { Actor, Reach } from '../context'
import type { JsonObject } from '../definition/json'

/** The sender of a request. */
export interface Identity {
  tenantId: string
  actor: Actor
  trusted: JsonObject | null
  /** The resources that a token may use if its secret is limited. */
  reach?: Reach | undefined
  /** When a token expires. */
  goodUntil?: Date | undefined
}
