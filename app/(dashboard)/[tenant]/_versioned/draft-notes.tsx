'use client'
import { Button, Group, Text } from '@mantine/core'
import { Archive, History, TriangleAlert } from 'lucide-react'
import { ErrorState } from '@/app/_ui/error-state'
import { Notice } from '@/app/_ui/notice'
import { Time } from '@/app/_ui/time'
import styles from './versioned.module.css'

/** Notices above the form: archived, saved by someone else, unsaved changes recovered, or saving failed. */
export function DraftNotes(props: {
  noun: 'agent' | 'tool'
  archived: boolean
  onRestore: (() => void) | null
  restoring: boolean
  behind: boolean
  version: number
  onTakeTheirs: () => void
  onKeepMine: () => void
  recovered: string | null
  onDiscard: () => void
  error: unknown
}) {
  const { noun, archived, onRestore, restoring, behind, version, recovered, error } = props
  return (
    <div className={styles.notes}>
      {archived && (
        <Notice tone="quiet" icon={Archive} title={`This ${noun} is archived`}>
          <Group justify="space-between">
            <Text size="sm">It cannot be called or changed. Its history stays.</Text>
            {onRestore && (
              <Button size="compact-sm" variant="default" loading={restoring} onClick={onRestore}>
                Restore
              </Button>
            )}
          </Group>
        </Notice>
      )}
      {behind && (
        <Notice
          tone="warning"
          icon={TriangleAlert}
          title={`Version ${version} was saved while you were editing`}
          urgent
        >
          <Text size="sm">Your changes are based on an earlier version. Nothing was overwritten.</Text>
          <Group gap="sm" mt="xs">
            <Button size="compact-sm" variant="default" onClick={props.onKeepMine}>
              Keep my changes and save them as version {version + 1}
            </Button>
            <Button size="compact-sm" variant="default" onClick={props.onTakeTheirs}>
              Discard my changes and show version {version}
            </Button>
          </Group>
        </Notice>
      )}
      {recovered && !behind && (
        <Notice tone="info" icon={History} title="Unsaved changes restored">
          <Group justify="space-between">
            <Text size="sm">
              This browser kept them <Time at={recovered} />.
            </Text>
            <Button size="compact-sm" variant="default" onClick={props.onDiscard}>
              Discard them
            </Button>
          </Group>
        </Notice>
      )}
      {error !== null && <ErrorState error={error} title={`The ${noun} was not saved`} />}
    </div>
  )
}
