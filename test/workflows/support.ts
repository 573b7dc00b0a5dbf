import type { ServiceContext } from '@/server/context'
import { AppError } from '@/server/errors'

/** A small definition that can be published and started without tools. */
export const RUNNABLE = {
  name: 'Order',
  description: 'Asks',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { item: { type: 'string' } } },
    { id: 'end', type: 'end-flow', output: { item: '${item}' } },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}

/** The code of the AppError that the call throws, or its result. */
export async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (err) {
    if (err instanceof AppError) return err.code
    throw err
  }
}

export async function refusal(call: Promise<unknown>): Promise<AppError> {
  const err = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (err instanceof AppError) return err
  throw err ?? new Error('The call was not refused.')
}

/** The context with a clock that stands still until it is moved. */
export function withClock(ctx: ServiceContext, start = '2026-03-01T09:00:00.000Z') {
  let time = Date.parse(start)
  return {
    ctx: { ...ctx, now: () => new Date(time) },
    pass: (seconds: number) => {
      time += seconds * 1000
    },
  }
}
