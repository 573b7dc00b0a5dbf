import type { z } from 'zod'
import type { ServiceContext } from '../../../context'
import { toStorableJson } from '../../../definition/json'
import { MAX_OUTPUT_BYTES } from '../../../definition/limits'
import { issuesToDetails } from '../../../parse'
import type { ToolCall } from '../../call'
import { detailTexts, type ToolOutcome, toolFailure } from '../../schema'

/** The tool cannot do this; the message explains why. */
export class CannotDo extends Error {
  override name = 'CannotDo'
}

/** @throws CannotDo before allocating a result that is too large */
export function refuseLarge(size: number): void {
  if (size > MAX_OUTPUT_BYTES) throw new CannotDo(`The result would be longer than ${MAX_OUTPUT_BYTES} characters.`)
}

/** Makes a tool that only computes: parses the arguments and turns CannotDo into a failure of the tool. */
export function computing<S extends z.ZodType>(
  schema: S,
  compute: (args: z.output<S>, ctx: ServiceContext) => unknown,
): (ctx: ServiceContext, call: ToolCall) => Promise<ToolOutcome> {
  return async (ctx, call) => {
    const parsed = schema.safeParse(call.args)
    if (!parsed.success)
      return toolFailure('EXECUTION_ERROR', 'Invalid arguments', detailTexts(issuesToDetails(parsed.error.issues)))
    try {
      return { success: true, data: toStorableJson(compute(parsed.data, ctx)) }
    } catch (err) {
      // RangeError: nested too deeply, or a text longer than strings can be.
      if (err instanceof CannotDo || err instanceof RangeError) return toolFailure('EXECUTION_ERROR', err.message)
      throw err
    }
  }
}

/**
 * Returns an argument this operation requires.
 * @throws CannotDo
 */
export function need<T>(value: T | undefined, name: string, operation: string): T {
  if (value === undefined) throw new CannotDo(`${name} is required for ${operation}.`)
  return value
}
