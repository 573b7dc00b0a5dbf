import type { ServiceContext } from '../../context'
import type { JsonValue } from '../../definition/json'
import { runMaskerOf } from '../../runs/run-masker'
import { type ReadWholeValue, readWholeValue } from '../../runs/whole-value'

/**
 * The full value where a screen has cut it, with sensitive fields hidden.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT, UNAVAILABLE
 */
export async function readShownValue(ctx: ServiceContext, input: ReadWholeValue): Promise<{ value: JsonValue }> {
  const { value } = await readWholeValue(ctx, input)
  return { value: (await runMaskerOf(ctx, input.runId)).json(value) }
}
