import type { SchemeRules } from './scheme'

/** Anybody who knows the address may send. */
export const none: SchemeRules = {
  refusal: () => null,
  deliveryId: ({ headers }, { idHeader }) => (idHeader === null ? null : headers.get(idHeader)),
}
