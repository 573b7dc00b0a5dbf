import { z } from 'zod'
import type { JsonValue } from './json'

/**
 * Any JSON value. What comes in is parsed JSON already, so nothing looks through it again, as `z.json()` would: that holds
 * the event loop for a third of a second with a value near its limit.
 */
export const AnyJson = z.unknown().refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<
  JsonValue,
  JsonValue
>
