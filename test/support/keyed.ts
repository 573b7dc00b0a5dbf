import type { ServiceContext } from '@/server/context'

/** Of a request with an `Idempotency-Key`, whose answer is kept nowhere. */
export function keyed(outgoingKey: string): NonNullable<ServiceContext['keyed']> {
  return { outgoingKey, recall: () => null, remember: async () => {}, committed: () => {}, heldBy: () => {} }
}
