import { processWide } from '@/db/process-wide'

/** What an open page should reload. */
export interface LiveChange {
  /** Lists and counts of tasks. */
  tasks: boolean
  /** Who else has the page's workflow open. */
  people: boolean
}

export interface OpenPage {
  tenantId: string
  tab: string
  notify(what: keyof LiveChange): void
}

const NOTHING: LiveChange = { tasks: false, people: false }

const pages = () => processWide('live.pages', () => new Map<string, Set<OpenPage>>())

/** The pages of a tenant that follow this process. */
export function pagesOf(tenantId: string): Iterable<OpenPage> {
  return pages().get(tenantId) ?? []
}

/** All pages that follow this process. */
export function allPages(): OpenPage[] {
  return [...pages().values()].flatMap((own) => [...own])
}

/**
 * Registers a page for changes from now on. `wait` resolves on the first change since the last `take`, or when the
 * signal fires.
 */
export function openPage(tenantId: string, tab: string, signal: AbortSignal) {
  let changed = NOTHING
  let wake = () => {}
  const page: OpenPage = {
    tenantId,
    tab,
    notify(what) {
      changed = { ...changed, [what]: true }
      wake()
    },
  }
  const own = pages().get(tenantId) ?? new Set()
  pages().set(tenantId, own.add(page))
  const leave = () => wake()
  signal.addEventListener('abort', leave)
  return {
    isQuiet: () => changed === NOTHING,
    async wait(): Promise<void> {
      if (changed !== NOTHING || signal.aborted) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    },
    take(): LiveChange {
      const taken = changed
      changed = NOTHING
      return taken
    },
    close(): void {
      signal.removeEventListener('abort', leave)
      own.delete(page)
      if (own.size === 0 && pages().get(tenantId) === own) pages().delete(tenantId)
    },
  }
}
