import type { CopyDatabase, CopyRow, SyncStorage } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/device-copies'
import { createDeviceCopies } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/device-copies'
import type { DraftServer, Loaded } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-server'
import type { Draft } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-state'
import { createDraftStore } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-store'
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
  function call<T>(what: Call, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let done: (() => void) | null = null
      const end = async (deliver: () => void) => {
        calls.splice(calls.indexOf(entry), 1)
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
    load: () => call({ kind: 'load' }, () => ({ ...state })),
    save: (next, base) =>
      call({ kind: 'save', definition: next, base }, () => {
        if (base !== state.version) throw { code: 'VERSION_CONFLICT' }
        state.version++
        state.definition = next
        return { version: state.version, publishedVersion: state.publishedVersion }
      }),
    saveLayout: (layout) =>
      call({ kind: 'layout', layout }, () => {
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
  let page = 0
  const key = (row: Pick<CopyRow, 'tenantId' | 'workflowId' | 'baseVersion'>) =>
    JSON.stringify([row.tenantId, row.workflowId, row.baseVersion])
  function databaseOf(opened: number): CopyDatabase {
    // Calls of a closed page never finish.
    const turn = async (waits: boolean) => {
      if (waits) await new Promise<void>((resolve) => held.push(resolve))
      if (opened !== page) await new Promise(() => {})
    }
    return {
      async list(tenantId, workflowId) {
        await turn(false)
        return [...rows.values()].filter((row) => row.tenantId === tenantId && row.workflowId === workflowId)
      },
      async put(row) {
        await turn(device.holding)
        rows.set(key(row), structuredClone(row))
        return true
      },
      async removeUpTo(tenantId, workflowId, version) {
        await turn(false)
        for (const row of rows.values())
          if (row.tenantId === tenantId && row.workflowId === workflowId && row.baseVersion <= version)
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
    copies: (workflowId = 'wf_1') =>
      createDeviceCopies({ tenantId: 'ten_1', workflowId, database: databaseOf(page), storage: () => storage }),
    /** Closes every page: only data written by now is left. */
    endPages: () => void page++,
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
    isVisible: () => page.visible,
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
