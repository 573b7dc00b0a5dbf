import { processWide } from '@/db/process-wide'

/** A person's place: a tab with an open workflow, and the step selected in it. */
export interface Place {
  tenantId: string
  workflowId: string
  tab: string
  person: { id: string; name: string }
  /** Null if none is selected, or several. */
  stepId: string | null
  /** The version its draft is based on: a save changes it, so others notice the save immediately. */
  version: number | null
}

/** A person with the workflow open. */
export interface Present {
  id: string
  name: string
  stepId: string | null
}

interface Seen extends Place {
  /** By this process's monotonic clock. */
  at: number
  /** When the place last changed. */
  since: number
}

/** Pages report their place every four seconds; two missed reports mean they are gone. */
export const GONE_AFTER_MS = 10_000
/** How many tabs of a workflow to track. */
const MAX_TABS = 200

interface Places {
  /** By tenant and workflow, then by person and tab. */
  known: Map<string, Map<string, Seen>>
  sweptAt: number
}

const places = () => processWide<Places>('live.places', () => ({ known: new Map(), sweptAt: 0 }))

const workflowKey = (tenantId: string, workflowId: string) => JSON.stringify([tenantId, workflowId])
const tabKey = ({ person, tab }: Place) => JSON.stringify([person.id, tab])

/**
 * Records a person's place, in memory only: after a restart, all pages report again within seconds.
 * @returns whether others see anything new
 */
export function notePlace(place: Place, at = performance.now()): boolean {
  forgetOld(at)
  const { known } = places()
  const key = workflowKey(place.tenantId, place.workflowId)
  const here = known.get(key) ?? new Map<string, Seen>()
  const before = here.get(tabKey(place))
  const { stepId, version, person } = place
  const moved = before?.stepId !== stepId || before.person.name !== person.name
  if (!before && here.size >= MAX_TABS) return false
  here.set(tabKey(place), { ...place, at, since: moved || !before ? at : before.since })
  known.set(key, here)
  return moved || before?.version !== version
}

/** @returns whether others see anything new */
export function noteGone(place: Place): boolean {
  return places().known.get(workflowKey(place.tenantId, place.workflowId))?.delete(tabKey(place)) ?? false
}

/** The people with a workflow open, by name: each once, where they moved last. */
export function whoIsAt(tenantId: string, workflowId: string, at = performance.now()): Present[] {
  const latest = new Map<string, Seen>()
  for (const seen of places().known.get(workflowKey(tenantId, workflowId))?.values() ?? []) {
    const known = latest.get(seen.person.id)
    if (isHere(seen, at) && (!known || known.since < seen.since)) latest.set(seen.person.id, seen)
  }
  return [...latest.values()]
    .map(({ person, stepId }) => ({ ...person, stepId }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1))
}

/** The tabs with a workflow open. */
export function tabsAt(tenantId: string, workflowId: string): Set<string> {
  return new Set([...(places().known.get(workflowKey(tenantId, workflowId))?.values() ?? [])].map(({ tab }) => tab))
}

function isHere({ at }: Seen, now: number): boolean {
  return now - at < GONE_AFTER_MS
}

function forgetOld(now: number): void {
  const state = places()
  if (now - state.sweptAt < GONE_AFTER_MS) return
  state.sweptAt = now
  for (const [key, here] of state.known) {
    for (const [tab, seen] of here) if (!isHere(seen, now)) here.delete(tab)
    if (here.size === 0) state.known.delete(key)
  }
}
