import './zod-words'
import { z } from 'zod'
import type { JsonValue } from './json'

/**
 * Any JSON value. Input is already parsed JSON, so nothing scans it again, as `z.json()` would: that blocks the event
 * loop for a third of a second on a value near its limit.
 */
export const AnyJson = z.unknown().refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<
  JsonValue,
  JsonValue
>
