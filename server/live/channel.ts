import { z } from 'zod'
import { listenWhile } from '@/db/listen-while'
import { database } from '../database'
import { log } from '../log'
import { allPages, pagesOf } from './pages'
import { noteGone, notePlace, type Place, tabsAt } from './places'

/** `db/functions/tasks.sql` names it too. */
export const LIVE_CHANNEL = 'millrace_live'

const Notice = z.union([
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
export type Notice = z.infer<typeof Notice>

/** Records a person's place, and notifies pages of the same workflow if it is new. */
export function takePlace(place: Place, gone: boolean): void {
  if (!(gone ? noteGone(place) : notePlace(place))) return
  const tabs = tabsAt(place.tenantId, place.workflowId)
  for (const page of pagesOf(place.tenantId)) if (page.tab !== place.tab && tabs.has(page.tab)) page.notify('people')
}

/**
 * Listens for every process's notifications while a page follows. After each lost connection, all pages reload what
 * they may have missed. `ready` also settles if listening is not possible yet.
 */
export const liveChanges = listenWhile('live', () => {
  const { ready, close } = database().listen(LIVE_CHANNEL, { heard, listening: notifyAll })
  const listening = ready.catch((err: unknown) =>
    log().warn({ err }, 'could not listen for changes of tasks yet; pages poll meanwhile'),
  )
  return { ready: listening, close }
})

function notifyAll(): void {
  for (const page of allPages()) {
    page.notify('tasks')
    page.notify('people')
  }
}

function heard(text: string): void {
  const notice = readNotice(text)
  if (!notice) return
  if ('place' in notice) takePlace(notice.place, notice.gone)
  else for (const page of pagesOf(notice.tasksOf)) page.notify('tasks')
}

/** Null for another release's notifications. */
function readNotice(text: string): Notice | null {
  try {
    return Notice.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
