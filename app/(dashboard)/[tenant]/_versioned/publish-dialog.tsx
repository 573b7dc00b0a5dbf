'use client'
import { Button, Skeleton, Stack, Text, Textarea } from '@mantine/core'
import dynamic from 'next/dynamic'
import { type ComponentProps, useState } from 'react'
import { CodeDiff } from '@/app/_ui/code-diff'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { inPlace, loadPart } from '@/app/_ui/part'
import { ReasonButton } from '@/app/_ui/reason-button'
import type { UserOf } from '@/server/views/users-of'
import { useTenant } from '../tenant-context'
import { pretty } from './json'
import styles from './versioned.module.css'

const PublishCases = dynamic(
  () => loadPart(() => import('../_test-cases/lazy').then((module) => module.PublishCases)),
  { ssr: false, loading: inPlace(null) },
)

export interface PublishDialogProps {
  opened: boolean
  onClose: () => void
  noun: 'agent' | 'tool'
  name: string
  version: number
  /** The published version: null if none, undefined while it loads. */
  before: { version: number; content: object } | null | undefined
  after: object
  /** Undefined while they load. */
  users: UserOf[] | undefined
  cases: ComponentProps<typeof PublishCases>
  onPublish: (note: string) => void
  busy: boolean
  error: unknown
}

/** Shows what publishing changes, and for whom. */
export function PublishDialog(props: PublishDialogProps) {
  const { opened, onClose, name } = props
  return (
    <Dialog opened={opened} onClose={onClose} title={`Publish “${name}”`} size="lg">
      <Publish {...props} />
    </Dialog>
  )
}

function Publish({ onClose, noun, version, before, after, users, cases, onPublish, busy, error }: PublishDialogProps) {
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
        <CodeDiff
          label={`Changes from version ${before.version} to ${version}`}
          before={pretty(before.content)}
          after={pretty(after)}
        />
      )}
      <section aria-label="Used by">
        <div className={styles.label}>Used by</div>
        {users ? <Users noun={noun} users={users} /> : <Skeleton height={40} />}
      </section>
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

function Users({ noun, users }: { noun: 'agent' | 'tool'; users: UserOf[] }) {
  const { path } = useTenant()
  if (users.length === 0) return <p className={styles.note}>No published workflow and no agent uses this {noun}.</p>
  return (
    <ul className={styles.users}>
      {users.map(({ kind, id, name, keepsTo, pinned }) => (
        <li key={id}>
          <Link href={path(`/${kind}s/${id}`)}>{name}</Link>
          <span className={styles.note}>
            {kind === 'workflow' ? 'Workflow' : 'Agent'}
            {keepsTo === null
              ? ', gets the new version immediately'
              : `, keeps version ${keepsTo}${pinned ? ' until it is published again' : ''}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
