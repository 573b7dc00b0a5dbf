'use client'
import { type QueryKey, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../tenant-context'
import type { Resource } from './resource-list'
import { useDraft } from './use-draft'
import type { VersionItem } from './versions-tab'

/** The calls that a versioned resource needs. @typeParam F the editable content of a version */
export interface VersionedServer<R extends Resource, F extends object> {
  /** Query keys of the resource, its versions and everything of its kind. */
  keys: { one: QueryKey; versions: QueryKey; kind: QueryKey }
  formOf(resource: R): F
  readVersion(version: number): Promise<F>
  listVersions(): Promise<{ items: VersionItem[]; total: number }>
  /** @throws VERSION_CONFLICT when `version` is not the newest */
  update(body: F & { version: number }): Promise<R>
  publish(ifMatch: string): Promise<R>
  restoreVersion(version: number, ifMatch: string): Promise<R>
}

/** A versioned resource being edited: its draft, saving, publishing and restoring. */
export function useVersioned<R extends Resource, F extends object>(
  resource: R,
  server: VersionedServer<R, F>,
  shown: { versions: boolean },
) {
  const queries = useQueryClient()
  const url = useUrlState()
  const { id: tenantId } = useTenant()
  const { id, version, publishedVersion } = resource
  const draft = useDraft(server.formOf(resource), version, `millrace-draft-${tenantId}-${id}`)
  const [publishing, setPublishing] = useState(false)
  // Counts discards, so that fields with their own typed text start over.
  const [discards, setDiscards] = useState(0)
  const ifMatch = `"${version}"`

  const show = (saved: R) => {
    queries.setQueryData(server.keys.one, saved)
    return queries.invalidateQueries({ queryKey: server.keys.kind })
  }
  const update = useMutation({
    mutationFn: server.update,
    // A conflict is not about single fields: the newer version is fetched and shown.
    onError: (error) => {
      if (errorOf(error).code === 'VERSION_CONFLICT')
        queries.invalidateQueries({ queryKey: server.keys.one }).catch(() => {})
    },
  })
  const publish = useMutation({
    mutationFn: () => server.publish(ifMatch),
    onSuccess: (saved) => {
      setPublishing(false)
      notifyDone(`Version ${saved.version} is published.`)
      return show(saved)
    },
  })
  const restore = useMutation({
    mutationFn: (earlier: number) => server.restoreVersion(earlier, ifMatch),
    onSuccess: (saved) => {
      notifyDone(`Saved as version ${saved.version}. It is not published yet.`)
      url.set({ version: null, with: null })
      return show(saved)
    },
    onError: (error) => notifyError(error, 'The version was not restored'),
  })
  const versions = useQuery({
    queryKey: server.keys.versions,
    queryFn: server.listVersions,
    enabled: shown.versions,
  })
  const before = useQuery({
    queryKey: ['version', id, publishedVersion],
    queryFn: () => server.readVersion(publishedVersion ?? 1),
    enabled: publishing && publishedVersion !== null,
    staleTime: Infinity,
  })
  const conflict = update.error !== null && errorOf(update.error).code === 'VERSION_CONFLICT'

  return {
    draft,
    discards,
    discard: () => {
      update.reset()
      setDiscards((now) => now + 1)
      draft.discard()
    },
    keepMine: () => {
      update.reset()
      draft.rebase()
    },
    /** Why the last save failed. A conflict is reported by `draft.behind` instead. */
    saveError: conflict ? null : update.error,
    saving: update.isPending,
    /** @param then called once everything is saved */
    save: (then?: (saved: R) => void) => {
      const sent = draft.value
      update.mutate(
        { ...sent, version: draft.version },
        {
          onSuccess: (saved) => {
            draft.settle(sent, { value: server.formOf(saved), version: saved.version })
            then?.(saved)
            return show(saved)
          },
        },
      )
    },
    publishing,
    openPublish: () => {
      publish.reset()
      setPublishing(true)
    },
    closePublish: () => setPublishing(false),
    /** What is published now: null when nothing is, undefined while it loads. */
    before: publishedVersion === null ? null : before.data && { version: publishedVersion, content: before.data },
    after: server.formOf(resource),
    publish,
    restore,
    versions,
    readVersion: server.readVersion,
  }
}

export type Versioned<R extends Resource, F extends object> = ReturnType<typeof useVersioned<R, F>>
