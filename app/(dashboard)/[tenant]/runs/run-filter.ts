import { MAX_STEP_ID } from '@/server/definition/step-id'
import type { BrowseRuns } from '@/server/views/runs/browse'

type State = NonNullable<BrowseRuns['states']>[number]
type Via = NonNullable<BrowseRuns['via']>

export const STATE_OPTIONS = [
  { value: 'running', label: 'Running' },
  { value: 'paused', label: 'Waiting' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'terminated', label: 'Terminated' },
  { value: 'timed_out', label: 'Timed out' },
] as const satisfies { value: State; label: string }[]

export const VIA_OPTIONS = [
  { value: 'apiKey', label: 'API key' },
  { value: 'jwt', label: 'Signed token' },
  { value: 'user', label: 'Person' },
  { value: 'test', label: 'Test run' },
  { value: 'system', label: 'System' },
] as const satisfies { value: Via; label: string }[]

export function viaLabel(via: string): string {
  return VIA_OPTIONS.find((option) => option.value === via)?.label ?? via
}

/** The URL parameters that filter the list. */
export const FILTER_NAMES = [
  'q',
  'status',
  'workflow',
  'version',
  'from',
  'to',
  'trigger',
  'key',
  'step',
  'code',
] as const

/**
 * The list's query from its URL. Invalid values are left out, so that a mistyped URL shows more runs instead of an
 * error. `cursor` is a direction and a position: `a.…` for older runs, `b.…` for newer ones.
 */
export function inputOf(params: URLSearchParams): BrowseRuns {
  const states = params.getAll('status').filter((value): value is State => STATE_OPTIONS.some((o) => o.value === value))
  const via = VIA_OPTIONS.find(({ value }) => value === params.get('trigger'))?.value
  const q = params.get('q')?.trim().slice(0, 200)
  const workflowIds = params.getAll('workflow').filter((id) => /^[\w-]{1,80}$/.test(id))
  const version = /^[1-9]\d{0,8}$/.exec(params.get('version') ?? '')?.[0]
  const [businessKey, code] = ['key', 'code'].map((name) => params.get(name)?.trim().slice(0, 100))
  const failedAt = Array.from(params.get('step')?.trim() ?? '')
    .slice(0, MAX_STEP_ID)
    .join('')
  const from = moment(params.get('from'))
  const to = moment(params.get('to'))
  const [, direction, place] = /^([ab])\.([\w-]{1,390})$/.exec(params.get('cursor') ?? '') ?? []
  return {
    ...(q ? { q } : {}),
    ...(states.length > 0 ? { states } : {}),
    ...(workflowIds.length > 0 ? { workflowIds } : {}),
    ...(version ? { version: Number(version) } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(via ? { via } : {}),
    ...(businessKey ? { businessKey } : {}),
    ...(failedAt ? { failedAt } : {}),
    ...(code ? { code } : {}),
    ...(place ? (direction === 'b' ? { before: place } : { after: place }) : {}),
  }
}

export function cursorOf(direction: 'after' | 'before', place: string): string {
  return `${direction === 'after' ? 'a' : 'b'}.${place}`
}

/**
 * The part of the list's URL that a saved view stores: its filters without times, in a fixed order, so that equal views
 * are equal texts.
 */
export function viewOf(params: URLSearchParams, workflowId: string | undefined): string {
  const kept = new URLSearchParams()
  for (const name of FILTER_NAMES) {
    if (name === 'from' || name === 'to') continue
    const values = name === 'workflow' && workflowId !== undefined ? [workflowId] : params.getAll(name)
    for (const value of values.toSorted()) if (value !== '') kept.append(name, value)
  }
  return kept.toString()
}

/** Whether the list searches values for a text, which is too expensive to repeat every few seconds. */
export function searchesValues(q: string | undefined): boolean {
  return q !== undefined && q.length >= 3 && !q.startsWith('run_')
}

/** The limits of such a search, from `server/views/runs/containing.ts`. */
export const VALUE_SEARCH =
  'Values are searched in the newest 2,000 runs that match the other filters, but not in runs with more than 32 KB of input and result. At most 200 runs are found this way, fewer if their values are large.'

/** The filter without the position in the list. */
export function filterOf({ after: _after, before: _before, limit: _limit, ...filter }: BrowseRuns) {
  return filter
}

/** Whether the filter is empty. */
export function isEveryRun(filter: ReturnType<typeof filterOf>): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

function moment(text: string | null): string | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
