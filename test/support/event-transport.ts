import type { EventTransport } from '@/server/outbox'

/** Forwards this process's events. The runtime must have started. */
export function currentTransport(): EventTransport {
  const holder = globalThis as { [key: symbol]: { transport?: EventTransport } | undefined }
  const transport = holder[Symbol.for('millrace.outbox')]?.transport
  if (!transport) throw new Error('The runtime has not started.')
  return transport
}
