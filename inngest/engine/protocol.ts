import { z } from 'zod'

/** The size limit for the result of a step and for an event, as on the real server. */
export const LARGEST_OUTPUT = 4 * 1024 * 1024
export const LARGEST_EVENT = 3 * 1024 * 1024
export const MAX_EVENTS = 5000
export const MAX_STEPS = 10_000

/** Postgres text cannot hold a NUL, so names and ids may not either. */
const label = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')

export const SentEvent = z.looseObject({
  name: label(512).refine((name) => !name.startsWith('inngest/'), 'must not begin with inngest/'),
  id: label(512).nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
  ts: z.number().nullish(),
})
export type SentEvent = z.infer<typeof SentEvent>

/** An event as functions see it. */
export interface EngineEvent {
  id: string
  name: string
  data: Record<string, unknown>
  ts: number
  [extra: string]: unknown
}

/** The result of a step, or its error, as the SDK gets it back. `value` is JSON. */
export interface StepResult {
  id: string
  value: string
}

const Op = z.object({
  id: label(512),
  op: z.string(),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
  opts: z.record(z.string(), z.unknown()).nullish(),
  data: z.unknown().optional(),
  error: z.unknown().optional(),
})
export type Op = z.infer<typeof Op>
export const Ops = z.array(Op)

/** The fields of a checkpoint that the engine reads. The rest belongs to the SDK and may hold step arguments. */
export const Checkpoint = z.object({
  run_id: z.string(),
  qi_id: z.string(),
  steps: z.array(Op),
})

export const Signal = z.object({ signal: label(1024), data: z.unknown().optional() })

export const WaitForEventOpts = z.object({ timeout: z.string(), if: z.string().optional() })
export const WaitForSignalOpts = z.object({
  signal: label(1024),
  timeout: z.string(),
  conflict: z.enum(['fail', 'replace']).optional(),
})
export const InvokeOpts = z.object({
  function_id: z.string(),
  payload: z.looseObject({ data: z.record(z.string(), z.unknown()).nullish() }).nullish(),
  timeout: z.string().nullish(),
})

const Trigger = z.union([
  z.strictObject({ event: label(255), expression: z.string().optional() }),
  z.strictObject({ cron: z.string() }),
])
const Concurrency = z.strictObject({
  limit: z.number().int().min(1),
  key: z.string().optional(),
  scope: z.literal('fn').optional(),
})

/** The SDK's report about one function. Unlisted fields are rejected, never ignored. */
export const FunctionConfig = z.strictObject({
  id: label(512),
  name: z.string().optional(),
  triggers: z.array(Trigger).max(10),
  steps: z.strictObject({
    step: z.looseObject({
      retries: z.strictObject({ attempts: z.number().int().min(0).max(20).optional() }).optional(),
    }),
  }),
  concurrency: z
    .union([z.number().int().min(1), Concurrency, z.tuple([Concurrency])])
    .optional()
    .transform((value) => (typeof value === 'number' ? { limit: value } : Array.isArray(value) ? value[0] : value)),
  idempotency: z.string().optional(),
  timeouts: z.strictObject({ start: z.string().optional(), finish: z.string().optional() }).optional(),
  cancel: z
    .array(z.strictObject({ event: label(255), if: z.string().optional(), timeout: z.string().optional() }))
    .max(5)
    .optional(),
})
export type FunctionConfig = z.infer<typeof FunctionConfig>

export const Sync = z.object({ functions: z.array(z.looseObject({ id: z.string() })) })
