'use client'
import { Button, Stack, Text, Textarea } from '@mantine/core'
import dynamic from 'next/dynamic'
import { type ComponentProps, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { inPlace, loadPart } from '@/app/_ui/part'
import { ReasonButton } from '@/app/_ui/reason-button'
import type { UserOf } from '@/server/views/users-of'
import { type Compare, Comparison } from './comparison'
import { Users } from './users'
import styles from './versioned.module.css'

const PublishCases = dynamic(
  () => loadPart(() => import('../_test-cases/lazy').then((module) => module.PublishCases)),
  { ssr: false, loading: inPlace(null) },
)

export interface PublishDialogProps<F extends object> {
  opened: boolean
  onClose: () => void
  noun: 'agent' | 'tool'
  name: string
  version: number
  /** The published version: null if none, undefined while it loads. */
  before: { version: number; content: F } | null | undefined
  after: F
  compare: Compare<F>
  /** Undefined while they load. */
  users: UserOf[] | undefined
  cases: ComponentProps<typeof PublishCases>
  onPublish: (note: string) => void
  busy: boolean
  error: unknown
}

/** Shows what publishing changes, and for whom. */
export function PublishDialog<F extends object>(props: PublishDialogProps<F>) {
  const { opened, onClose, name } = props
  return (
    <Dialog opened={opened} onClose={onClose} title={`Publish “${name}”`} size="xl">
      <Publish {...props} />
    </Dialog>
  )
}

function Publish<F extends object>(props: PublishDialogProps<F>) {
  const { onClose, noun, version, before, after, compare, users, cases, onPublish, busy, error } = props
  const [note, setNote] = useState('')
  const anyway = cases.results?.some(({ outcome }) => outcome !== 'passed') ?? false
  return (
    <Stack>
      <Text size="sm">
        {before === null
          ? `Callers of this ${noun} get it from now on.`
          : `Callers of this ${noun} get version ${version} from now on, unless they name another one.`}
        {before && ` Version ${before.version} stays in the history.`}
      </Text>
      {before && (
        <Comparison
          label={`Changes from version ${before.version} to ${version}`}
          before={before.content}
          now={after}
          sides={{ before: `Version ${before.version}`, now: `Version ${version}` }}
          compare={compare}
        />
      )}
      <Users noun={noun} users={users} />
      {cases.count > 0 && (
        <section aria-label="Test cases">
          <div className={styles.label}>Test cases</div>
          <PublishCases {...cases} />
        </section>
      )}
      <Textarea
        label="Note"
        description="What changed, for those who read the history"
        autosize
        minRows={2}
        maxLength={500}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {error !== null && <ErrorState error={error} title={`The ${noun} was not published`} />}
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <ReasonButton
          reason={cases.running ? 'The test cases are still running' : null}
          onClick={() => onPublish(note)}
          loading={busy}
        >
          {/* A draft has been saved as a version before: its number would suggest an earlier publication. */}
          {before === null ? 'Publish' : `Publish v${version}`}
          {anyway && ' anyway'}
        </ReasonButton>
      </DialogButtons>
    </Stack>
  )
}
