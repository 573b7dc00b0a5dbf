import type { ListAudit } from '@/server/audit-log/schema'
import { AUDIT_ACTIONS, AUDIT_THINGS } from '@/server/definition/audit'

/** The URL parameters that filter the log. */
export const FILTER_NAMES = ['actor', 'kind', 'action', 'thing', 'from', 'to'] as const

/** The log's query from its URL. Invalid values are left out, so that a mistyped URL shows more entries. */
export function inputOf(params: URLSearchParams): ListAudit {
  const [actor, thing, cursor] = ['actor', 'thing', 'cursor'].map((name) => params.get(name)?.slice(0, 300))
  const action = AUDIT_ACTIONS.find((one) => one === params.get('action'))
  const kind = AUDIT_THINGS.find((one) => one === params.get('kind'))
  const [from, to] = [moment(params.get('from')), moment(params.get('to'))]
  return {
    ...(actor ? { actor } : {}),
    ...(action ? { action } : {}),
    ...(kind ? { kind } : {}),
    ...(thing ? { thing } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(cursor && /^[\w-]+$/.test(cursor) ? { cursor } : {}),
  }
}

function moment(text: string | null): string | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
