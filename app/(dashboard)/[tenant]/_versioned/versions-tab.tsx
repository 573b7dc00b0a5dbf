'use client'
import { Button, Group, SegmentedControl, Select, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import { Time } from '@/app/_ui/time'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { UserOf } from '@/server/views/users-of'
import { type Compare, Comparison } from './comparison'
import { pretty } from './json'
import { UnfinishedTexts } from './unfinished'
import { Users } from './users'
import styles from './versioned.module.css'

export interface VersionItem {
  version: number
  name: string
  author: string
  createdAt: string
  publishedAt: string | null
  current: boolean
  published: boolean
  /** The publisher's note. */
  note: string | null
}

/** What the dashboard makes when a tool or an agent is created, before its first draft is published. */
const isFirst = ({ version, publishedAt, current }: VersionItem) => version === 1 && publishedAt === null && !current

/** The history: who saved what and when, comparing versions, and restoring one into the draft. */
export function VersionsTab<F extends object>(props: {
  id: string
  noun: 'agent' | 'tool'
  items: VersionItem[] | undefined
  total: number
  error: unknown
  onRetry: () => void
  /** The content of a version, without dates and numbers. */
  read: (version: number) => Promise<F>
  /** Shows a version as the form that edits it. */
  view: (content: F) => ReactNode
  compare: Compare<F>
  /** Undefined while they load. */
  users: UserOf[] | undefined
  onRestore: ((version: number) => void) | null
  /** The draft beside the versions; its time is null until it is saved. */
  draft: { author: string | null; at: string | null } | null
  restoring: boolean
}) {
  const { id, noun, items, total, error, onRetry, read, view, compare, users, onRestore, draft, restoring } = props
  const [asJson, setAsJson] = useState(false)
  const url = useUrlState()
  const first = items?.[0]
  const chosen = items?.find(({ version }) => String(version) === url.get('version')) ?? first
  const against = url.get('with')
  const other =
    against === 'none'
      ? undefined
      : (items?.find(({ version }) => String(version) === against) ??
        items?.find(({ version }) => version === (chosen?.version ?? 0) - 1))
  if (error !== null) return <ErrorState error={error} onRetry={onRetry} title="The versions could not be loaded" />
  if (!items || !chosen) return <Skeleton height={240} radius="md" />
  return (
    <div className={styles.history}>
      <ol className={styles.versions} aria-label="Versions">
        {draft && (
          <li className={styles.draft}>
            <strong>Draft</strong>
            <span className={styles.note}>
              {draft.author && `${draft.author}, `}
              {draft.at === null ? 'not saved yet' : <Time at={draft.at} />}
            </span>
          </li>
        )}
        {items.map((item) => (
          <li key={item.version}>
            <button
              type="button"
              className={styles.version}
              aria-current={item.version === chosen.version ? 'true' : undefined}
              onClick={() => url.set({ version: String(item.version), with: null })}
            >
              <span>
                <strong>Version {item.version}</strong>
                {item.published && <span className={styles.live}>Published</span>}
                {item.current && !item.published && <span className={styles.note}>Latest</span>}
                {isFirst(item) && <span className={styles.note}>As created, never published</span>}
              </span>
              <span className={styles.note}>
                {item.author}, <Time at={item.createdAt} />
              </span>
              {item.note !== null && <span className={styles.about}>{item.note}</span>}
            </button>
          </li>
        ))}
        {total > items.length && (
          <li className={styles.note}>{total - items.length} earlier versions are not shown.</li>
        )}
      </ol>
      <div className={styles.compared}>
        <Group justify="space-between" align="flex-end">
          <Select
            label={`Compare version ${chosen.version} with`}
            value={other ? String(other.version) : 'none'}
            onChange={(value) => url.set({ with: value })}
            allowDeselect={false}
            data={[
              { value: 'none', label: 'Nothing (show it in full)' },
              ...items
                .filter(({ version }) => version !== chosen.version)
                .map(({ version }) => ({ value: String(version), label: `Version ${version}` })),
            ]}
          />
          {!other && (
            <SegmentedControl
              aria-label={`Version ${chosen.version} as`}
              value={asJson ? 'json' : 'form'}
              onChange={(next) => setAsJson(next === 'json')}
              data={[
                { value: 'form', label: 'Form' },
                { value: 'json', label: 'JSON' },
              ]}
            />
          )}
          {onRestore && !chosen.current && (
            <Button
              variant="default"
              leftSection={<RotateCcw size={16} aria-hidden />}
              loading={restoring}
              onClick={() => onRestore(chosen.version)}
            >
              Restore into the draft
            </Button>
          )}
        </Group>
        <Content
          id={id}
          version={chosen.version}
          against={other?.version ?? null}
          read={read}
          view={asJson ? null : view}
          compare={compare}
        />
        {other && <Users noun={noun} users={users} old={Math.min(chosen.version, other.version)} />}
      </div>
    </div>
  )
}

function Content<F extends object>(props: {
  id: string
  version: number
  against: number | null
  read: (version: number) => Promise<F>
  /** Null shows it as JSON. */
  view: ((content: F) => ReactNode) | null
  compare: Compare<F>
}) {
  const { id, version, against, read, view, compare } = props
  const after = useQuery({ queryKey: ['version', id, version], queryFn: () => read(version), staleTime: Infinity })
  const before = useQuery({
    queryKey: ['version', id, against],
    queryFn: () => read(against ?? 0),
    enabled: against !== null,
    staleTime: Infinity,
  })
  const failed = after.error ?? (against === null ? null : before.error)
  if (failed) return <ErrorState error={failed} onRetry={() => after.refetch()} />
  if (!after.data || (against !== null && !before.data)) return <Skeleton height={200} radius="md" />
  if (against === null || !before.data) {
    if (view === null) return <CodeBlock text={pretty(after.data)} label={`Version ${version}`} wrap />
    return (
      // Its fields must not pick up unfinished texts of the draft.
      <UnfinishedTexts key={version} value={null}>
        {view(after.data)}
      </UnfinishedTexts>
    )
  }
  return (
    <Comparison
      label={`Changes from version ${against} to ${version}`}
      before={before.data}
      now={after.data}
      sides={{ before: `Version ${against}`, now: `Version ${version}` }}
      compare={compare}
    />
  )
}
