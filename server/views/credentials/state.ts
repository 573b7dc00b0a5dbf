/** `ending`: replaced, but valid for a grace period. `replaced`: no longer valid. */
export type CredentialState = 'enabled' | 'disabled' | 'ending' | 'replaced'

export function stateOf(
  { disabledAt, graceUntil }: { disabledAt: Date | null; graceUntil: Date | null },
  now: Date,
): CredentialState {
  if (disabledAt) return 'disabled'
  if (!graceUntil) return 'enabled'
  return graceUntil > now ? 'ending' : 'replaced'
}
