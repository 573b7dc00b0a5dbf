import type { Carrier } from '@/server/outbox'

/** What carries this process's events on. The runtime must have started. */
export function currentCarrier(): Carrier {
  const holder = globalThis as { [key: symbol]: { carrier?: Carrier } | undefined }
  const carrier = holder[Symbol.for('millrace.outbox')]?.carrier
  if (!carrier) throw new Error('The runtime has not started.')
  return carrier
}
