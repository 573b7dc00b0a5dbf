import './zod-words'
import { z } from 'zod'
import type { JsonObject } from './json'

/** The highest number of attempts a step's retry policy may set. */
export const MAX_ATTEMPTS = 20

/** The highest number of visits a step of a loop may allow itself. */
export const MAX_VISITS = 1_000_000

/** Settings every step may have in addition to those of its type. Durations are in milliseconds. */
export const CommonConfig = z.object({
  name: z.string().max(200).optional().describe('The name that history shows.'),
  description: z.string().max(10_000).optional().describe('Text for people.'),
  position: z.object({ x: z.number(), y: z.number() }).optional().describe('The step’s position in the editor.'),
  saveAs: z
    .string()
    .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must be a field name')
    .refine((name) => !['_', '__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')
    .optional()
    .describe('Stores the whole output under this name in the run’s data, instead of field by field.'),
  maxVisits: z
    .number()
    .int()
    .min(1)
    .max(MAX_VISITS)
    .optional()
    .describe('How often a run may visit the step. Every loop needs a step with such a limit.'),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(86_400_000)
    .optional()
    .describe('How long one attempt may take. In milliseconds.'),
  retry: z
    .object({
      maxAttempts: z.number().int().min(1).max(MAX_ATTEMPTS).optional(),
      initialDelayMs: z.number().int().min(0).max(86_400_000).optional(),
      maxDelayMs: z.number().int().min(0).max(86_400_000).optional(),
      backoff: z.enum(['fixed', 'exponential']).optional(),
    })
    .optional()
    .describe('How to retry failures that may be temporary.'),
})
export type CommonConfig = z.infer<typeof CommonConfig>
export type RetryPolicy = NonNullable<CommonConfig['retry']>

/** A step's configuration with every `${…}` resolved, parsed by its type's schema and the common one. */
export type StepConfig = JsonObject & CommonConfig
