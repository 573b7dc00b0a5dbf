import { z } from 'zod'
import { AnyJson } from '../../definition/any-json'
import { component } from '../../definition/component'

/** The most runs of one sample. */
export const MAX_RUNS = 1_000
/** The most runs of one call of the dashboard: what one statement reads. */
export const MAX_CHUNK = 50

const moment = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-01T00:00:00Z' })
  .regex(/^[12]/, 'must be a time such as 2026-11-01T00:00:00Z')
  .optional()

const RunIds = z.array(z.string().max(100))
const of = z
  .enum(['ended', 'failed'])
  .default('ended')
  .describe('Runs that ended by themselves, or only those that failed.')

const filters = {
  version: z
    .union([z.string().max(20), z.number()])
    .default('latest')
    .describe('`latest` (the default), `published` or a number.'),
  runs: z.number().int().min(1).max(MAX_RUNS).default(200).describe('How many runs to try.'),
  of,
  cause: z
    .object({
      stepId: z.string().max(200).nullable().describe('Where they failed; null for no step.'),
      code: z.string().max(100).describe('The code of their error.'),
    })
    .optional()
    .describe('Only runs that failed so.'),
  from: moment.describe('Only runs that started at this time or later.'),
  to: moment.describe('Only runs that started before this time.'),
}

const assume = z
  .record(z.string(), AnyJson)
  .default({})
  .describe('By step id: the result of a call that a run did not make. Without it, the result is unknown.')
const scripts = z
  .boolean()
  .default(true)
  .describe('Whether scripts that only compute run again where their code or arguments differ.')
const reveal = z
  .boolean()
  .default(false)
  .describe('Also use the values of sensitive fields. Needs the role admin; the audit log says so.')

/** A sample of past runs, for the dashboard. */
export const BacktestSample = z.object(filters)
export type BacktestSample = z.input<typeof BacktestSample>

/** Some runs of a sample, for the dashboard. */
export const BacktestRuns = z.object({
  version: z.number(),
  runIds: RunIds.min(1).max(MAX_CHUNK),
  ...{ of, assume, scripts, reveal },
})
export type BacktestRuns = z.input<typeof BacktestRuns>

/** One run, to be drawn on both versions. */
export const BacktestRun = z.object({ version: z.number(), runId: z.string().max(100) })
export type BacktestRun = z.input<typeof BacktestRun>

export const BacktestWorkflow = component('BacktestWorkflow', {
  ...filters,
  runIds: RunIds.max(MAX_RUNS).optional().describe('Try these runs of the workflow, and no sample.'),
  assume,
  scripts,
  reveal,
  each: z.boolean().default(false).describe('Whether to list the verdict on each run too.'),
})
