'use client'
import { Button, Group, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { History } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { StatusPill } from '@/app/_ui/status-pill'
import { Clock, Time } from '@/app/_ui/time'
import { diffDefinitions, sizeOfDiff } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'
import type { VersionHistoryItem } from '@/server/views/workflows/version-history'
import { useTenant } from '../../../tenant-context'
import { useWorkflowsChanged } from '../../use-workflows-changed'
import type { SaveNow } from '../actions/screen'
import { Differences } from '../canvas/differences'
import { definitionOf, type Layout } from '../model/definition'
import { OpenRunsOf, useOpenRuns } from './open-runs'
import styles from './versions-panel.module.css'
import { historyKey, versionsFrom } from './versions-query'

export interface VersionsPanelProps {
  workflowId: string
  /** The current draft. */
  definition: Definition
  /** Where the editor shows its steps. */
  layout: Layout
  /** Saves first: restoring makes a new version. */
  save: SaveNow
  /** Called with the new version, from which the editor starts over. */
  onRestored: (restored: { version: number; definition: Definition }) => void
}

/** The version history: compares each version with the draft and restores it. */
export function VersionsPanel(props: VersionsPanelProps) {
  const { workflowId } = props
  const trpc = useTRPC()
  const client = useTRPCClient()
  const [chosen, setChosen] = useState<number | null>(null)
  const openRuns = useOpenRuns(workflowId)
  const versions = useInfiniteQuery({
    queryKey: historyKey(trpc.workflows.versions, workflowId),
    queryFn: ({ pageParam }) => client.workflows.versions.query(versionsFrom(workflowId, pageParam)),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total }) => (offset + limit < total ? offset + limit : undefined),
    staleTime: 0,
  })
  if (versions.error && !versions.data) {
    const again = () => void versions.refetch()
    return (
      <div className={styles.pad}>
        <ErrorState error={versions.error} title="The versions could not be loaded" onRetry={again} />
      </div>
    )
  }
  if (!versions.data) {
    return (
      <div className={styles.pad}>
        <Skeleton height={160} radius="md" />
      </div>
    )
  }
  const items = versions.data.pages.flatMap((page) => page.items)
  const shown = items.find(({ version }) => version === chosen) ?? items[0]
  const versionText = (version: number) => {
    const open = openRuns.of(version)
    return open && openRuns.text(open)
  }
  const open = shown ? openRuns.of(shown.version) : null
  return (
    <div className={styles.panel}>
      <div>
        <ul className={styles.versions} aria-label="Versions">
          {items.map((item) => (
            <li key={item.version}>
              <UnstyledButton
                className={styles.version}
                aria-current={item.version === shown?.version ? 'true' : undefined}
                onClick={() => setChosen(item.version)}
              >
                <VersionLine item={item} openRuns={versionText(item.version)} />
              </UnstyledButton>
            </li>
          ))}
        </ul>
        {versions.hasNextPage && (
          <Button
            variant="subtle"
            size="compact-sm"
            loading={versions.isFetchingNextPage}
            onClick={() => void versions.fetchNextPage()}
          >
            Earlier versions
          </Button>
        )}
      </div>
      {shown && (
        <div className={styles.one}>
          {open && (
            <OpenRunsOf workflowId={workflowId} open={open} text={openRuns.text(open)} isPublished={shown.published} />
          )}
          <OneVersion {...props} key={shown.version} item={shown} onRefresh={() => void versions.refetch()} />
        </div>
      )}
    </div>
  )
}

/** Only publishing assigns a visible number: a draft shows its save time. */
function VersionName({ item }: { item: VersionHistoryItem }) {
  if (item.number !== null) return `Version ${item.number}`
  return (
    <span>
      Draft of <Clock at={item.createdAt} />
    </span>
  )
}

function named({ number }: VersionHistoryItem): string {
  return number === null ? 'this earlier draft' : `version ${number}`
}

function sameAs({ current, number }: VersionHistoryItem): string {
  return current && number === null ? 'This is the draft in the editor.' : 'The draft is the same.'
}

function VersionLine({ item, openRuns }: { item: VersionHistoryItem; openRuns: string | null }) {
  return (
    <>
      <span className={styles.first}>
        <VersionName item={item} />
        {item.published && <StatusPill status="published" label="Published" />}
        {item.current && !item.published && <span className={styles.note}>newest</span>}
      </span>
      <span className={styles.note}>
        {item.publishedAt === null ? 'saved' : <Time at={item.publishedAt} />} by {item.createdByName}
        {item.publishedAt !== null && !item.published && ', was published'}
      </span>
      {item.number !== null && item.number !== item.version && (
        <span className={styles.api}>version {item.version} in the API</span>
      )}
      {openRuns !== null && <span className={styles.about}>{openRuns}</span>}
      {item.note !== null && <span className={styles.about}>{item.note}</span>}
    </>
  )
}

function OneVersion(props: VersionsPanelProps & { item: VersionHistoryItem; onRefresh: () => void }) {
  const { workflowId, definition, layout, save, onRestored, item, onRefresh } = props
  const trpc = useTRPC()
  const changed = useWorkflowsChanged('lists')
  const { may } = useTenant()
  const read = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(item.version) }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const earlier = useMemo(() => read.data && definitionOf(read.data), [read.data])
  const restore = useMutation(trpc.workflows.restore.mutationOptions())
  const [unsaved, setUnsaved] = useState(false)
  async function restoreVersion() {
    const current = await save()
    setUnsaved(current === null)
    if (current === null) return
    restore.mutate(
      { id: workflowId, version: String(item.version), ifMatch: `"${current}"` },
      {
        onSuccess: (restored) => {
          void changed()
          notifyDone(`The draft is now ${named(item)}. Nothing was published.`)
          onRefresh()
          onRestored({ version: restored.version, definition: definitionOf(restored) })
        },
      },
    )
  }
  if (read.error) {
    const again = () => void read.refetch()
    return <ErrorState error={read.error} title="The version could not be loaded" onRetry={again} />
  }
  if (!earlier) return <Skeleton height={160} radius="md" />
  // From the draft to the version: the changes that restoring would make.
  const diff = diffDefinitions(definition, earlier)
  const same = sizeOfDiff(diff) === 0
  return (
    <section aria-label={item.number === null ? 'Earlier draft' : `Version ${item.number}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Text size="sm" fw={500}>
            {same ? sameAs(item) : `Restoring ${named(item)} would change:`}
          </Text>
          {!same && may('workflow:publish') && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<History size={16} aria-hidden />}
              loading={restore.isPending}
              onClick={() => void restoreVersion()}
            >
              Restore {named(item)}
            </Button>
          )}
        </Group>
        {unsaved && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            The draft could not be saved, so nothing was restored.
          </Text>
        )}
        {restore.error && <ErrorState error={restore.error} title="The version was not restored" />}
        {!same && (
          <Differences
            label={`Changes from this draft to ${named(item)}`}
            before={definition}
            after={earlier}
            layout={layout}
            diff={diff}
          />
        )}
      </Stack>
    </section>
  )
}
