import type { ServiceContext } from '../../context'
import { jsonSize } from '../../definition/json'
import { MAX_QUESTION_BYTES } from '../../definition/limits'
import type { Step } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import type { StepRecordRow } from '../../run-store/walk-data'
import { parseConfig } from '../../steps/config'
import type { AnyStep, Asked } from '../../steps/define-step'
import { failureAtEntry, inputDataOf, valuesIn } from '../flow/step'
import type { WalkState } from '../flow/types'
import { resolveConfig } from '../plan/outputs'
import { configOf } from '../plan/state'

/** What a step of another version asks of a visit that waits already, or why it cannot. */
export type Question =
  | { config: StepConfig; asked: Asked }
  /** `elapsed` if it would not wait any more. */
  | { failure: 'elapsed' | 'too large' | { code: string } }

/**
 * Fills in the step from the data of now. Times count from the beginning of the visit. A form that is skipped where
 * every field has a value is not: it was asked.
 */
export async function questionOf(
  ctx: ServiceContext,
  state: WalkState,
  record: StepRecordRow,
  step: Step,
  type: AnyStep,
): Promise<Question | null> {
  if (type.mode !== 'pause') return null
  try {
    const resolved = await resolveConfig(ctx, state, step, type)
    const config = parseConfig(type, resolved.config)
    if (resolved.values !== null) config.$values = resolved.values
    const { $runId } = configOf(record)
    // The run that it waits for keeps its id.
    if (type.startsRun && $runId !== undefined) config.$runId = $runId
    inputDataOf(type, config)
    const { stepId, startTime: now } = record
    const asked = type.ask({ stepId, config, data: {}, now, values: valuesIn(config) })
    if (!('signal' in asked)) return { failure: 'elapsed' }
    const bytes = jsonSize([asked.signal, asked.event?.rules ?? null])
    return bytes <= MAX_QUESTION_BYTES ? { config, asked } : { failure: 'too large' }
  } catch (err) {
    return { failure: { code: failureAtEntry(err).code } }
  }
}
