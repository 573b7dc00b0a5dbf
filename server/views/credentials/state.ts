/** `ending`: replaced but still working for a while. `replaced`: no longer working. */
export type CredentialState = 'enabled' | 'disabled' | 'ending' | 'replaced'

export function stateOf(
  { disabledAt, graceUntil }: { disabledAt: Date | null; graceUntil: Date | null },
  now: Date,
): CredentialState {
  if (disabledAt) return 'disabled'
  if (!graceUntil) return 'enabled'
  return graceUntil > now ? 'ending' : 'replaced'
}
