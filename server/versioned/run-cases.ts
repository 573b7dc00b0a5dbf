import { z } from 'zod'
import { Deadline } from '@/lib/deadline'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import type { ServiceContext } from '../context'
import type { Usage } from '../definition/agent'
import { type Difference, differencesFrom, type Ended, type Given } from '../definition/test-case'
import { AppError, CallerGone } from '../errors'
import { tenantMasker } from '../vault/masker'
import { type CaseMasks, type CaseRow, MAX_CASES, onlyVault, readCases } from './test-cases'

/** The cases to run; all by default. */
export const RunCases = z.object({ only: z.array(z.string()).max(MAX_CASES).optional() })

/** The outcome of one test case. */
export type CaseResult = {
  id: string
  name: string
  outcome: 'passed' | 'failed' | 'not run'
  /** The differences from the expected outcome. */
  differences: Difference[]
  /** Why it was not run. */
  reason: string | null
  /** Its assumptions, as sentences. Only of workflows. */
  assumed: string[]
  ms: number
  /** Only of agents. */
  usage: Usage | null
  cost: number | null
}

/** How a case ended, and its usage. `notRun` is the reason, such as a lack of time or tokens. */
export interface RanCase {
  ended: Ended | { notRun: string }
  assumed?: string[]
  usage?: Usage
  cost?: number | null
}

interface RunOptions<G> {
  only: string[] | undefined
  atOnce: number
  /** For all cases together. */
  limitMs: number
  run: (given: G, signal: AbortSignal) => Promise<RanCase>
  masks?: CaseMasks
}

/** Runs test cases in order, a few concurrently. Aborts a case that runs out of time, and reports it. */
export async function runCases<G extends Given>(
  ctx: ServiceContext,
  noun: Parameters<typeof readCases>[1],
  id: string,
  { only, atOnce, limitMs, run, masks = onlyVault }: RunOptions<G>,
  caller: AbortSignal,
): Promise<{ results: CaseResult[] }> {
  const all = await readCases(ctx, noun, id)
  const rows = only ? all.filter((row) => only.includes(row.id)) : all
  if (rows.length === 0) return { results: [] }
  const vault = await tenantMasker(ctx)
  const limit = new Deadline(caller, limitMs, () => new DOMException('The test cases took too long', 'TimeoutError'))
  const results = new Map<string, CaseResult>()
  try {
    await forEachAtOnce(rows, atOnce, async (row) => {
      caller.throwIfAborted()
      const started = performance.now()
      const ran = await orTooLate(limit, limitMs, () => run(row.given as G, limit.signal))
      const ms = Math.max(0, Math.round(performance.now() - started))
      const masker = masks(vault, row)
      results.set(row.id, masker.json({ ...resultOf(row, ran, masker), ms }))
    })
  } catch (err) {
    throw caller.aborted ? new CallerGone() : err
  } finally {
    limit.end()
  }
  return { results: rows.flatMap((row) => results.get(row.id) ?? []) }
}

async function orTooLate(limit: Deadline, limitMs: number, run: () => Promise<RanCase>): Promise<RanCase> {
  const tooLate = { ended: { notRun: `There was no time left: all test cases together have ${limitMs / 1000} s.` } }
  if (limit.signal.aborted) return tooLate
  try {
    const ran = await limit.race(run())
    return limit.late ? { ...ran, ...tooLate } : ran
  } catch (err) {
    if (limit.late) return tooLate
    // The tested object never ran, so it neither passed nor failed.
    if (err instanceof AppError && err.code === 'UNAVAILABLE') return { ended: { notRun: `${err.message}.` } }
    throw err
  }
}

function resultOf(
  { id, name, expected }: CaseRow,
  { ended, assumed = [], usage, cost }: RanCase,
  masker: ReturnType<CaseMasks>,
): Omit<CaseResult, 'ms'> {
  const took = { assumed, usage: usage ?? null, cost: cost ?? null }
  if ('notRun' in ended) return { id, name, outcome: 'not run', differences: [], reason: ended.notRun, ...took }
  const differences = differencesFrom(expected, ended, masker.text, masker.hides)
  return { id, name, outcome: differences.length === 0 ? 'passed' : 'failed', differences, reason: null, ...took }
}
