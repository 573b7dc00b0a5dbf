import { and, eq, inArray, sql } from 'drizzle-orm'
import { isUnavailable, sqlState } from '@/db/deadline'
import { stepRecords } from '@/db/schema/runs'
import { storedSize } from '@/db/stored-size'
import type { ServiceContext } from '../context'
import { branchesAround, originOf } from '../definition/branches'
import { expressionReferences } from '../definition/expression/fields'
import { graphOf } from '../definition/graph'
import { type JsonObject, type JsonValue, own } from '../definition/json'
import { MAX_NAMED_OUTPUT_BYTES, readableSize } from '../definition/limits'
import type { Arrival } from '../definition/run'
import type { Step } from '../definition/schema'
import { findReferences, type Lookup, lookupIn, type Reference, resolveTemplates } from '../definition/template'
import { literalConfig, templatedConfig } from '../definition/templated-config'
import { StepFailure } from '../errors'
import { type AnyStep, suppliedIn } from '../steps/define-step'
import type { Place } from './place'
import { CLEANUP_BRANCH, MAIN_BRANCH } from './receipt'
import { classify } from './retry'
import { knownValues, valuesFor } from './values'

/** What a step's configuration is made of: its own settings with every `${…}` filled in, and what those stand for. */
interface Resolved {
  config: JsonObject
  lookup: Lookup
  /** What the fields refer to that the step fills in itself, and the expressions that it evaluates later. */
  values: JsonObject | null
}

/**
 * Resolves every `${…}` in a step's configuration: from the run's data or, if no field has the name, from the output of
 * the step with that id. Expressions stay as they are; `lookup` finds what they refer to.
 * @throws UnresolvedReference, TemplateTooLarge, StepFailure
 */
export async function resolveConfig(ctx: ServiceContext, place: Place, step: Step, type: AnyStep): Promise<Resolved> {
  const fillsIn: readonly string[] = (type.mode === 'effect' && type.fillsIn) || []
  const written = templatedConfig(step)
  const { references } = findReferences(written)
  const later = Object.fromEntries(Object.entries(written).filter(([name]) => fillsIn.includes(name)))
  const config = Object.fromEntries(Object.entries(written).filter(([name]) => !fillsIn.includes(name)))
  const inExpressions = expressionReferences(step).references
  const lookup = await lookupFrom(ctx, place, [...references, ...inExpressions])
  const supplied =
    type.supplies && inExpressions.filter(({ path, reference: { root } }) => !suppliedIn(type, path, root))
  const values = supplied ? knownValues(supplied, lookup) : fillsIn.length === 0 ? null : valuesFor(later, lookup)
  return { config: { ...resolveTemplates(config, lookup), ...later, ...literalConfig(step) }, lookup, values }
}

/** How the path of a branch ends that has come to its end: with what its fork collects, its `result`. */
export async function resultOf(ctx: ServiceContext, place: Place): Promise<Arrival> {
  const stepId = originOf(place.ref.branch)?.stepId ?? ''
  const result = graphOf(place.definition).step(stepId)?.result
  if (result === undefined) return { done: null }
  try {
    const { references } = findReferences({ result })
    const resolved = resolveTemplates({ result }, await lookupFrom(ctx, place, references))
    return { done: resolved.result ?? null }
  } catch (err) {
    if (isUnavailable(err) || sqlState(err) !== undefined) throw err
    const { code, message, internal } = classify(err)
    if (internal) throw err
    return { failed: { code, message, stepId }, outcome: 'failed' }
  }
}

async function lookupFrom(
  ctx: ServiceContext,
  place: Place,
  references: readonly { reference: Reference }[],
): Promise<Lookup> {
  const outputs = await outputsNamed(ctx, place, new Set(references.map(({ reference }) => reference.root)))
  const inData = lookupIn(place.data)
  return (root) => {
    const inRunData = inData(root)
    // A field that is null hides an output, like any other.
    return inRunData === undefined ? (own(place.outputs, root) ?? own(outputs, root)) : inRunData
  }
}

async function outputsNamed(
  ctx: ServiceContext,
  place: Place,
  roots: ReadonlySet<string>,
): Promise<Record<string, JsonValue>> {
  const wanted = [...roots].filter(
    (root) =>
      root !== '_' &&
      !Object.hasOwn(place.data, root) &&
      !Object.hasOwn(place.outputs, root) &&
      graphOf(place.definition).step(root) !== undefined,
  )
  if (wanted.length === 0) return {}
  // The newest visit of each step: one look into the index, however often a loop has visited it.
  const { tenantId, runId, branch } = place.ref
  // The walk's own first, then those of the walks around it.
  const around = JSON.stringify([
    ...branchesAround(branch).toReversed(),
    ...(branch === CLEANUP_BRANCH ? [branch] : []),
    MAIN_BRANCH,
  ])
  const latest = ctx.db
    .select({
      stepId: stepRecords.stepId,
      output: stepRecords.outputData,
      bytes: storedSize(stepRecords.outputBytes, stepRecords.outputData).as('bytes'),
    })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, tenantId),
        eq(stepRecords.runId, runId),
        inArray(stepRecords.stepId, wanted),
        sql`(${stepRecords.branch}, ${stepRecords.stepId}, ${stepRecords.visit}) in (
          select found.branch, w.id, found.visit
          from jsonb_array_elements_text(${JSON.stringify(wanted)}::jsonb) w(id)
          cross join lateral (
            select s.branch, s.visit from jsonb_array_elements_text(${around}::jsonb) with ordinality b(branch, rank)
            cross join lateral (
              select branch, visit from step_records
              where tenant_id = ${tenantId} and run_id = ${runId} and branch = b.branch and step_id = w.id
                and status = 'completed'
              order by visit desc limit 1) s
            order by b.rank limit 1) found)`,
      ),
    )
    .as('latest')
  const total = sql<number>`(sum(${latest.bytes}) over ())::float8`
  const rows = await ctx.db
    .select({
      stepId: latest.stepId,
      total,
      output: sql<JsonValue>`case when ${total} <= ${MAX_NAMED_OUTPUT_BYTES} then ${latest.output} end`,
    })
    .from(latest)
  if ((rows[0]?.total ?? 0) > MAX_NAMED_OUTPUT_BYTES) {
    const message = `The outputs that the configuration refers to are together larger than ${readableSize(MAX_NAMED_OUTPUT_BYTES)}`
    throw new StepFailure('CONFIG_TOO_LARGE', message)
  }
  return Object.fromEntries(rows.map((row) => [row.stepId, row.output]))
}
