import { Deadline } from '@/lib/deadline'
import { OutboundFailure } from './outbound-failure'

/** Limits the time of an outbound call. */
export class Clock extends Deadline {
  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    super(caller, timeoutMs, () => new OutboundFailure('TIMEOUT', `No answer within ${timeoutMs} ms.`))
  }

  explain(err: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason
    if (err instanceof OutboundFailure) return err
    const code = err instanceof Error && 'code' in err ? ` (${String(err.code)})` : ''
    return new OutboundFailure('CONNECTION_ERROR', `The server could not be reached${code}.`, { cause: err })
  }
}
