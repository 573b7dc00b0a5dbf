'use client'
import { Tabs } from '@mantine/core'
import dynamic from 'next/dynamic'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { PageBody } from '@/app/_ui/page-body'
import { inPlace, loadDialog, loadPart, WaitingDialog } from '@/app/_ui/part'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { Compare } from './comparison'
import { DraftNotes } from './draft-notes'
import { UnfinishedTexts, useUnfinishedField } from './unfinished'
import type { OpenedResource, Versioned } from './use-versioned'
import styles from './versioned.module.css'
import { VersionedHeader } from './versioned-header'

// `dynamic` loses the type that ties the read content to the shown one.
const VersionsTab = dynamic(() => loadPart(() => import('./versions-tab').then((module) => module.VersionsTab)), {
  ssr: false,
  loading: inPlace(null),
}) as typeof import('./versions-tab').VersionsTab

const PublishDialog = dynamic(
  () => loadDialog(() => import('./publish-dialog').then((module) => module.PublishDialog)),
  { ssr: false, loading: WaitingDialog },
) as typeof import('./publish-dialog').PublishDialog

export interface VersionedTab {
  name: string
  label: string
  /** Stays mounted once opened and preserves incomplete input. */
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
export function VersionedScreen<R extends OpenedResource, F extends { name: string }>(props: {
  noun: 'agent' | 'tool'
  resource: R
  versioned: Versioned<R, F>
  /** Why a text on the page is not part of the draft yet. */
  problem: string | null
  /** Makes fields with typed text of their own start over. */
  onRestart: () => void
  tab: string
  tabs: readonly VersionedTab[]
  /** Shows a version as the tabs' form, read-only. */
  view: (content: F) => ReactNode
  compare: Compare<F>
  may: { write: boolean; publish: boolean }
  /** Restores it from the archive. */
  verbs: { restore: (resource: R) => void; restoring: boolean }
}) {
  const { noun, resource, versioned, problem, tab, tabs, view, compare, may, verbs } = props
  const { draft, publish, restore, versions, problems } = versioned
  const url = useUrlState()
  const archived = resource.status === 'archived'
  const readOnly = archived || !may.write
  const [seen, setSeen] = useState<readonly string[]>([tab])
  if (!seen.includes(tab)) setSeen([...seen, tab])
  const row = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: shows the tab of the URL
  useEffect(() => {
    row.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab])
  const [wrong] = problems
  const unfinished = useUnfinishedField(versioned.name)
  const obstacle =
    problem ??
    (unfinished === null ? null : `First finish the text of ${unfinished}`) ??
    (draft.save.kind === 'conflict'
      ? 'First choose between your changes and theirs'
      : wrong
        ? `${wrong.path ?? ''} ${wrong.message}`.trim()
        : null)
  return (
    <UnfinishedTexts value={versioned.name}>
      <VersionedHeader
        noun={noun}
        resource={resource}
        name={draft.value.name || resource.name}
        state={draft}
        hasDraft={versioned.hasDraft}
        problem={problem}
        obstacle={obstacle}
        onSave={draft.saveNow}
        onDiscard={() => {
          props.onRestart()
          versioned.discard()
        }}
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
          state={draft}
          onChoose={(side) => {
            props.onRestart()
            versioned.choose(side)
          }}
        />
        <Tabs
          key={versioned.restarts}
          value={tab}
          onChange={(next) => url.set({ tab: next === tabs[0]?.name ? null : next })}
          keepMounted={false}
        >
          <div ref={row} className={styles.tabs}>
            <Tabs.List>
              {tabs.map(({ name, label }) => (
                <Tabs.Tab key={name} value={name}>
                  {label}
                </Tabs.Tab>
              ))}
              <Tabs.Tab value={VERSIONS}>Versions</Tabs.Tab>
            </Tabs.List>
          </div>
          {tabs.map(({ name, stays = false, panel }) => (
            <Tabs.Panel key={name} value={name} keepMounted={stays && seen.includes(name)}>
              {panel}
            </Tabs.Panel>
          ))}
          <Tabs.Panel value={VERSIONS}>
            <VersionsTab
              id={resource.id}
              noun={noun}
              items={versions.data?.items}
              total={versions.data?.total ?? 0}
              error={versions.error}
              onRetry={() => versions.refetch()}
              read={versioned.readVersion}
              view={view}
              compare={compare}
              users={versioned.users.data}
              onRestore={readOnly ? null : restore.mutate}
              draft={versioned.hasDraft ? { author: resource.draft.byName ?? null, at: draft.known.draft.at } : null}
              restoring={restore.isPending}
            />
          </Tabs.Panel>
        </Tabs>
      </PageBody>
      <PublishDialog
        opened={versioned.publishing}
        onClose={versioned.closePublish}
        noun={noun}
        name={draft.value.name || resource.name}
        version={versioned.next}
        before={versioned.before}
        after={draft.value}
        compare={compare}
        users={versioned.users.data}
        cases={versioned.cases}
        onPublish={versioned.publishWith}
        busy={publish.isPending}
        error={publish.error ?? versioned.users.error}
      />
    </UnfinishedTexts>
  )
}
