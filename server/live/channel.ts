import { z } from 'zod'
import { listenWhile } from '@/db/listen-while'
import { database } from '../database'
import { log } from '../log'
import { allPages, pagesOf } from './pages'
import { noteGone, notePlace, type Place, tabsAt } from './places'

/** `db/functions/tasks.sql` names it too. */
export const LIVE_CHANNEL = 'millrace_live'

const Told = z.union([
  z.object({ tasksOf: z.string() }),
  z.object({
    place: z.object({
      tenantId: z.string(),
      workflowId: z.string(),
      tab: z.string(),
      person: z.object({ id: z.string(), name: z.string() }),
      stepId: z.string().nullable(),
      version: z.number().nullable().default(null),
    }),
    gone: z.boolean(),
  }),
])

/** A notification from one process to all through the database. */
export type Told = z.infer<typeof Told>

/** Records a person's place, and notifies pages of the same workflow if it is new. */
export function takePlace(place: Place, gone: boolean): void {
  if (!(gone ? noteGone(place) : notePlace(place))) return
  const tabs = tabsAt(place.tenantId, place.workflowId)
  for (const page of pagesOf(place.tenantId)) if (page.tab !== place.tab && tabs.has(page.tab)) page.tell('people')
}

/**
 * Listens for every process's notifications while a page follows. After each lost connection, all pages reload what
 * they may have missed. `ready` also settles if listening is not possible yet.
 */
export const liveChanges = listenWhile('live', () => {
  const { ready, close } = database().listen(LIVE_CHANNEL, { heard, listening: tellAll })
  const told = ready.catch((err: unknown) =>
    log().warn({ err }, 'could not listen for changes of tasks yet; pages poll meanwhile'),
  )
  return { ready: told, close }
})

function tellAll(): void {
  for (const page of allPages()) {
    page.tell('tasks')
    page.tell('people')
  }
}

function heard(text: string): void {
  const told = readTold(text)
  if (!told) return
  if ('place' in told) takePlace(told.place, told.gone)
  else for (const page of pagesOf(told.tasksOf)) page.tell('tasks')
}

/** Null for another release's notifications. */
function readTold(text: string): Told | null {
  try {
    return Told.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
