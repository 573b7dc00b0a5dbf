import { z } from 'zod'
import type { JsonObject } from './json'

/** The highest number of attempts a step's retry policy may set. */
export const MOST_ATTEMPTS = 20

/** The highest number of visits a step of a loop may allow itself. */
export const MOST_VISITS = 1_000_000

/** Settings every step may have in addition to those of its type. Durations are in milliseconds. */
export const CommonConfig = z.object({
  name: z.string().max(200).optional(),
  description: z.string().max(10_000).optional(),
  position: z.object({ x: z.number(), y: z.number() }).optional(),
  saveAs: z
    .string()
    .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must be a field name')
    .refine((name) => !['_', '__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')
    .optional(),
  maxVisits: z.number().int().min(1).max(MOST_VISITS).optional(),
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  retry: z
    .object({
      maxAttempts: z.number().int().min(1).max(MOST_ATTEMPTS).optional(),
      initialDelayMs: z.number().int().min(0).max(86_400_000).optional(),
      maxDelayMs: z.number().int().min(0).max(86_400_000).optional(),
      backoff: z.enum(['fixed', 'exponential']).optional(),
    })
    .optional(),
})
export type CommonConfig = z.infer<typeof CommonConfig>
export type RetryPolicy = NonNullable<CommonConfig['retry']>

/** A step's configuration with every `${…}` resolved, parsed by its type's schema and the common one. */
export type StepConfig = JsonObject & CommonConfig
