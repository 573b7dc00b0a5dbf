import {
  type CopyDatabase,
  type CopyRow,
  createDraftCopies,
  type SyncStorage,
} from '@/app/(dashboard)/[tenant]/_draft/copies'
import type { DraftServer, Loaded } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-server'
import type { Draft } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-state'
import { createDraftStore, type Kept } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-store'
import { createOwnVersions } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/own-versions'
import type { Layout } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import type { Definition } from '@/server/definition/schema'

export const definition: Definition = {
  name: 'Order',
  description: '',
  initialStep: 'ask',
  steps: [{ id: 'ask', type: 'call-tool', toolId: 't' }],
  edges: [],
  payload: {},
}

/** Runs everything that waits neither for an answer nor for time. */
export const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A clock that moves only on command. */
export function fakeClock() {
  let now = 1_000
  const timers = new Set<{ at: number; callback: () => void }>()
  return {
    now: () => now,
    after(ms: number, callback: () => void) {
      const timer = { at: now + ms, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms: number) {
      const end = now + ms
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        now = next.at
        timers.delete(next)
        next.callback()
        await settled()
      }
      now = end
    },
    waiting: () => timers.size,
  }
}

type Call =
  | { kind: 'load' }
  | { kind: 'save'; definition: Definition; base: number }
  | { kind: 'layout'; layout: Layout }

const firstState = () => ({
  version: 1,
  definition,
  layout: {} as Layout,
  publishedVersion: null as number | null,
  updatedBy: 'Tom' as string | null,
})

/**
 * A server with one workflow. Each call waits until a test answers it, in any order.
 * @param state the server's data; pass it on to connect the next page to the same server
 */
export function fakeServer(state = firstState()) {
  const calls: (Call & { commit(): void; answer(): Promise<void>; fail(code?: string): Promise<void> })[] = []
  function call<T>(what: Call, signal: AbortSignal, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      // The page has given up; what the server has done by then is done.
      signal.addEventListener('abort', () => void entry.fail('ABORTED'))
      let done: (() => void) | null = null
      const end = async (deliver: () => void) => {
        if (calls.includes(entry)) calls.splice(calls.indexOf(entry), 1)
        deliver()
        await settled()
      }
      const entry = {
        ...what,
        /** The server does the work; its answer is still in flight. */
        commit() {
          try {
            const result = work()
            done = () => resolve(result)
          } catch (error) {
            done = () => reject(error)
          }
        },
        answer() {
          if (!done) entry.commit()
          return end(() => done?.())
        },
        fail: (code = 'UNREACHABLE') => end(() => reject({ code })),
      }
      calls.push(entry)
    })
  }
  const remembered: Parameters<DraftServer['remember']>[0][] = []
  const server: DraftServer = {
    own: createOwnVersions(),
    remember: (known) => void remembered.push(known),
    load: (signal) => call({ kind: 'load' }, signal, () => ({ ...state })),
    save: (next, base, signal) =>
      call({ kind: 'save', definition: next, base }, signal, () => {
        if (base !== state.version) throw { code: 'VERSION_CONFLICT' }
        state.version++
        state.definition = next
        return { version: state.version, publishedVersion: state.publishedVersion }
      }),
    saveLayout: (layout, signal) =>
      call({ kind: 'layout', layout }, signal, () => {
        state.layout = layout
      }),
    failureOf: (error) => ({ code: (error as { code: string }).code, message: 'It failed.', details: [] }),
  }
  return {
    ...server,
    calls,
    state,
    /** A screen that opens later would begin with the last one. */
    remembered,
    /** Another person saves. */
    saveByOther(next: Definition) {
      state.version++
      state.definition = next
    },
    /** Answers the oldest call, which must be of this kind. */
    async answer(kind: Call['kind']) {
      const [oldest] = calls
      if (oldest?.kind !== kind) throw new Error(`The oldest call is ${oldest?.kind ?? 'none'}, not ${kind}.`)
      await oldest.answer()
    },
  }
}

/** Storage that outlives a page: a database that answers later, and one that writes immediately. */
export function fakeDevice() {
  const rows = new Map<string, CopyRow>()
  const held: (() => void)[] = []
  const entries = new Map<string, string>()
  const device = {
    /** Whether the database is slow to write. */
    holding: false,
    full: false,
  }
  let opened = 0
  let pages = 0
  const key = (row: Pick<CopyRow, 'draft' | 'page'>) => JSON.stringify([row.draft, row.page])
  function databaseOf(then: number): CopyDatabase {
    // Calls of a closed page never finish.
    const turn = async (waits: boolean) => {
      if (waits) await new Promise<void>((resolve) => held.push(resolve))
      if (then !== opened) await new Promise(() => {})
    }
    return {
      async list(draft) {
        await turn(false)
        return [...rows.values()].filter((row) => row.draft === draft)
      },
      async put(row) {
        await turn(device.holding)
        rows.set(key(row), structuredClone(row))
        return true
      },
      async remove(row) {
        await turn(false)
        rows.delete(key(row))
      },
    }
  }
  const storage: SyncStorage = {
    get length() {
      return entries.size
    },
    key: (index) => [...entries.keys()][index] ?? null,
    getItem: (name) => entries.get(name) ?? null,
    setItem(name, value) {
      if (device.full) throw new DOMException('full', 'QuotaExceededError')
      entries.set(name, value)
    },
    removeItem: (name) => void entries.delete(name),
  }
  return Object.assign(device, {
    rows,
    entries,
    /** Those of a page that has just been opened. */
    copies: <T extends object = Kept>(draft = 'ten_1:wf_1', field = 'definition') =>
      createDraftCopies<T>({
        draft,
        page: `page-${pages++}`,
        isWhole: (content) => field in content,
        database: databaseOf(opened),
        storage: () => storage,
      }),
    /** The stored state of all pages. */
    size: () => rows.size + entries.size,
    /** Closes every page: only data written by now is left. */
    endPages: () => void opened++,
    async release() {
      device.holding = false
      for (const resolve of held.splice(0)) resolve()
      await settled()
    },
  })
}

/** A new editor and everything around it. */
export function openEditor(
  world: { server?: ReturnType<typeof fakeServer>; device?: ReturnType<typeof fakeDevice>; loaded?: Loaded } = {},
) {
  const server = world.server ?? fakeServer()
  const device = world.device ?? fakeDevice()
  const clock = fakeClock()
  const merged: string[] = []
  const page = { visible: true, typing: null as (() => void) | null }
  const loaded = world.loaded ?? { ...server.state }
  const store = createDraftStore({
    loaded,
    server,
    copies: device.copies(),
    clock,
    readOnly: false,
    checks: () => page.visible,
    flushFields() {
      const commit = page.typing
      page.typing = null
      commit?.()
    },
    onMerged: (text) => merged.push(text),
  })
  const rename = (name: string) =>
    store.change('edit', (draft) => ({ ...draft, definition: { ...draft.definition, name } }))
  return { store, server, device, clock, merged, page, rename }
}

export const named = (name: string): Definition => ({ ...definition, name })
export const moved = (layout: Layout) => (draft: Draft) => ({ ...draft, layout })
