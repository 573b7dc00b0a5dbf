'use client'
import { type QueryKey, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { JsonObject } from '@/server/definition/json'
import type { ErrorDetail } from '@/server/errors'
import type { CaseResult } from '@/server/versioned/run-cases'
import type { UserOf } from '@/server/views/users-of'
import { useTenant } from '../tenant-context'
import type { Opened } from './draft-state'
import { sameJson } from './json'
import type { Resource } from './resource-list'
import { forgetUnfinished } from './unfinished'
import { useDraft } from './use-draft'
import type { VersionItem } from './versions-tab'

/** The server's draft, stored beside the latest version. */
export interface StoredDraft {
  revision: number
  baseVersion: number
  content: JsonObject | null
  at: string | null
  by: string | null
  byName?: string | null
  byYou?: boolean
  problems: ErrorDetail[]
}

/** The calls that a versioned resource needs. @typeParam F the editable content of a version */
export interface VersionedServer<R extends Resource, F extends object> {
  /** Query keys of the resource, its versions and everything of its kind. */
  keys: { one: QueryKey; versions: QueryKey; kind: QueryKey }
  formOf(resource: R): F
  open(signal: AbortSignal): Promise<R>
  readVersion(version: number): Promise<F>
  listVersions(): Promise<{ items: VersionItem[]; total: number }>
  /** @throws VERSION_CONFLICT when `revision` is not the newest */
  saveDraft(
    body: { content: JsonObject | null; revision: number; baseVersion: number },
    signal: AbortSignal,
  ): Promise<StoredDraft>
  publish(draft: { revision: number; note: string }): Promise<Resource>
  restoreVersion(version: number, revision: number): Promise<unknown>
  findUsers(): Promise<UserOf[]>
  runCases(draft: F, signal: AbortSignal): Promise<{ results: CaseResult[] }>
}

/** A resource as its page loads it. */
export type OpenedResource = Resource & {
  draft: StoredDraft
  testCases: number
}

/** A versioned resource being edited: its draft, publishing and restoring. */
export function useVersioned<R extends OpenedResource, F extends object>(
  resource: R,
  server: VersionedServer<R, F>,
  shown: { versions: boolean; readOnly: boolean },
) {
  const queries = useQueryClient()
  const url = useUrlState()
  const { id: tenantId } = useTenant()
  const { id, publishedVersion, testCases } = resource
  const { formOf } = server
  const opened = useMemo(() => openedOf(resource, formOf(resource)), [resource, formOf])
  const name = `${tenantId}:${id}`
  const draft = useDraft<F>(opened, {
    name,
    readOnly: shown.readOnly,
    server: {
      open: async (signal) => {
        const now = await server.open(signal)
        queries.setQueryData(server.keys.one, now)
        return openedOf(now, formOf(now))
      },
      save: async ({ content, ...from }, signal) => {
        // A form is JSON: it came from the server, and fields add only JSON.
        const saved = await server.saveDraft({ ...from, content: content as JsonObject | null }, signal)
        return { ...saved, byName: saved.byName ?? null, byYou: true, content }
      },
      readVersion: server.readVersion,
      failureOf: (error) => errorOf(error),
    },
  })
  const [publishing, setPublishing] = useState(false)
  // Counts discards and merge choices, so that fields with typed text of their own start over.
  const [restarts, setRestarts] = useState(0)
  const restart = () => {
    forgetUnfinished(name)
    setRestarts((now) => now + 1)
  }
  const refresh = () => queries.invalidateQueries({ queryKey: server.keys.kind })

  const publish = useMutation({
    mutationFn: (note: string) => server.publish({ revision: draft.getState().known.draft.revision, note }),
    onSuccess: async ({ publishedVersion: published }) => {
      await refresh()
      setPublishing(false)
      notifyDone(publishedVersion === null ? 'The draft is published.' : `Version ${published} is published.`)
    },
    // The dialog's comparison is outdated.
    onError: (error) => errorOf(error).code === 'VERSION_CONFLICT' && void refresh(),
  })
  const restore = useMutation({
    mutationFn: async (version: number) => {
      await draft.saveNow()
      const { value, known } = draft.getState()
      await server.restoreVersion(version, known.draft.revision)
      await refresh()
      return value
    },
    onSuccess: (before, version) => {
      restart()
      url.set({ version: null, with: null, tab: null })
      notifyUndo(`Version ${version} is in the draft. Publish it to make it live.`, () => {
        draft.change(before)
        restart()
      })
    },
    onError: (error) => notifyError(error, 'The version was not restored'),
  })
  const versions = useQuery({ queryKey: server.keys.versions, queryFn: server.listVersions, enabled: shown.versions })
  const before = useQuery({
    queryKey: ['version', id, publishedVersion],
    queryFn: () => server.readVersion(publishedVersion ?? 1),
    enabled: publishing && publishedVersion !== null,
    staleTime: Infinity,
  })
  const users = useQuery({
    queryKey: [...server.keys.one, 'users'],
    queryFn: server.findUsers,
    enabled: publishing || shown.versions,
    staleTime: 0,
  })
  const stopCases = useRef<AbortController>(null)
  const [skippedFor, setSkippedFor] = useState<F | null>(null)
  const cases = useMutation({
    mutationFn: (tested: F) => {
      stopCases.current = new AbortController()
      return server.runCases(tested, stopCases.current.signal)
    },
  })
  const { known, dirty } = draft
  // After a conflict the draft holds another user's changes, which the earlier results do not cover.
  const isShown = (tested: F | null | undefined) => publishing && tested != null && sameJson(tested, draft.value)
  const ran = isShown(cases.variables)
  const skipped = isShown(skippedFor)

  return {
    /** Names the draft's copies in this browser. */
    name,
    draft,
    restarts,
    /** The draft differs from every version. */
    hasDraft: dirty || known.draft.content !== null,
    /** Problems that would prevent publication, by field. */
    problems: known.draft.problems,
    discard: () => {
      const { value } = draft
      draft.discard()
      restart()
      notifyUndo('The draft was discarded.', () => {
        draft.change(value)
        restart()
      })
    },
    choose: (side: 'mine' | 'theirs') => {
      draft.choose(side)
      restart()
    },
    publishing,
    openPublish: async () => {
      publish.reset()
      if (!(await draft.saveNow())) return
      cases.reset()
      setSkippedFor(null)
      setPublishing(true)
    },
    closePublish: () => {
      stopCases.current?.abort()
      setPublishing(false)
    },
    /** The test cases, run against the draft on publishing, not before: a tool may do real work. */
    cases: {
      count: testCases,
      running: cases.isPending,
      skipped,
      results: ran ? cases.data?.results : undefined,
      error: ran ? cases.error : null,
      onSkip: () => {
        setSkippedFor(draft.value)
        stopCases.current?.abort()
      },
    },
    /** Publishes the draft, unless test cases must still run and one of them fails. */
    publishWith: async (note: string) => {
      const { value } = draft.getState()
      if (testCases > 0 && !sameJson(skippedFor, value) && !sameJson(cases.variables, value)) {
        const { results } = (await cases.mutateAsync(value).catch(() => null)) ?? {}
        if (!results?.every(({ outcome }) => outcome === 'passed')) return
        // Another user's changes arrived during the tests.
        if (!sameJson(draft.getState().value, value)) return
      }
      publish.mutate(note)
    },
    /** The number of the next published version. */
    next: known.draft.content === null ? known.version : known.version + 1,
    /** The published version: null if none, undefined while it loads. */
    before: publishedVersion === null ? null : before.data && { version: publishedVersion, content: before.data },
    users,
    publish,
    restore,
    versions,
    readVersion: server.readVersion,
  }
}

export type Versioned<R extends OpenedResource, F extends object> = ReturnType<typeof useVersioned<R, F>>

function openedOf<F extends object>(resource: Resource & { draft: StoredDraft }, content: F): Opened<F> {
  const { version, draft } = resource
  // A draft saved by another release may lack fields.
  const typed = draft.content && { ...content, ...(draft.content as Partial<F>) }
  const { byName = null, byYou = false } = draft
  return { version, content, draft: { ...draft, byName, byYou, content: typed } }
}
