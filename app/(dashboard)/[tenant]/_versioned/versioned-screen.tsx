'use client'
import { Tabs } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { PageBody } from '@/app/_ui/page-body'
import { useUrlState } from '@/app/_ui/use-url-state'
import { DraftNotes } from './draft-notes'
import { PublishDialog } from './publish-dialog'
import type { Resource } from './resource-list'
import type { Versioned } from './use-versioned'
import { VersionedHeader } from './versioned-header'
import { VersionsTab } from './versions-tab'

export interface VersionedTab {
  name: string
  label: string
  /** Stays mounted once opened, and keeps incomplete input. */
  stays?: boolean
  panel: ReactNode
}

const VERSIONS = 'versions'

/** The tab named in the URL, or the first one. */
export function useTab(names: readonly string[]): string {
  const named = useUrlState().get('tab')
  return [...names, VERSIONS].find((name) => name === named) ?? names[0] ?? VERSIONS
}

/** The page of an agent or tool: header, its own tabs, and its history. */
export function VersionedScreen<R extends Resource, F extends object>(props: {
  noun: 'agent' | 'tool'
  resource: R
  versioned: Versioned<R, F>
  /** A field's error that prevents saving. */
  problem: string | null
  onDiscard: () => void
  tab: string
  tabs: readonly VersionedTab[]
  may: { write: boolean; publish: boolean }
  /** Restores it from the archive. */
  verbs: { restore: (resource: R) => void; restoring: boolean }
}) {
  const { noun, resource, versioned, problem, tab, tabs, may, verbs } = props
  const { draft, publish, restore, versions } = versioned
  const url = useUrlState()
  const archived = resource.status === 'archived'
  const readOnly = archived || !may.write
  const [seen, setSeen] = useState<readonly string[]>([tab])
  if (!seen.includes(tab)) setSeen([...seen, tab])
  const discard = () => {
    props.onDiscard()
    versioned.discard()
  }
  return (
    <>
      <VersionedHeader
        noun={noun}
        resource={resource}
        dirty={draft.dirty || problem !== null}
        obstacle={problem ?? (draft.behind ? 'First decide what to do with the newer version' : null)}
        saving={versioned.saving}
        onSave={() => versioned.save()}
        onDiscard={discard}
        onPublish={versioned.openPublish}
        mayWrite={may.write}
        mayPublish={may.publish}
      />
      <PageBody>
        <DraftNotes
          noun={noun}
          archived={archived}
          onRestore={may.publish ? () => verbs.restore(resource) : null}
          restoring={verbs.restoring}
          behind={draft.behind}
          version={resource.version}
          onTakeTheirs={discard}
          onKeepMine={versioned.keepMine}
          recovered={draft.recovered}
          onDiscard={discard}
          error={versioned.saveError}
        />
        <Tabs
          key={versioned.discards}
          value={tab}
          onChange={(next) => url.set({ tab: next === tabs[0]?.name ? null : next })}
          keepMounted={false}
        >
          <Tabs.List mb="lg">
            {tabs.map(({ name, label }) => (
              <Tabs.Tab key={name} value={name}>
                {label}
              </Tabs.Tab>
            ))}
            <Tabs.Tab value={VERSIONS}>Versions</Tabs.Tab>
          </Tabs.List>
          {tabs.map(({ name, stays = false, panel }) => (
            <Tabs.Panel key={name} value={name} keepMounted={stays && seen.includes(name)}>
              {panel}
            </Tabs.Panel>
          ))}
          <Tabs.Panel value={VERSIONS}>
            <VersionsTab
              id={resource.id}
              items={versions.data?.items}
              total={versions.data?.total ?? 0}
              error={versions.error}
              onRetry={() => versions.refetch()}
              read={versioned.readVersion}
              onRestore={readOnly ? null : restore.mutate}
              obstacle={draft.dirty ? 'Save or discard your changes first' : null}
              restoring={restore.isPending}
            />
          </Tabs.Panel>
        </Tabs>
      </PageBody>
      <PublishDialog
        opened={versioned.publishing}
        onClose={versioned.closePublish}
        noun={noun}
        version={resource.version}
        before={versioned.before}
        after={versioned.after}
        onPublish={() => publish.mutate()}
        busy={publish.isPending}
        error={publish.error}
      />
    </>
  )
}
