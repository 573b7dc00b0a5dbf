'use client'
import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { CopyPlus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { diffDefinitions, sizeOfDiff } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'
import { definitionOf } from '../model/definition'
import { type Conflict, merge, type Side } from '../model/merge'
import styles from './conflict-dialog.module.css'

export interface ConflictDialogProps {
  opened: boolean
  onClose: () => void
  workflowId: string
  /** The version both sides started from. */
  base: Definition
  mine: Definition
  theirs: { version: number; definition: Definition; by: string }
  /** Called with the chosen definition, to save on top of `theirs`. */
  onResolve: (merged: Definition) => void
  /** Called after mine was saved as another workflow; this one keeps theirs. */
  onSavedAsCopy: (copy: { id: string; name: string }) => void
}

/** Shown when two people changed the same things, to choose between them. Closing it changes nothing. */
export function ConflictDialog(props: ConflictDialogProps) {
  const { opened, onClose, theirs } = props
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title={`${theirs.by} saved version ${theirs.version} while you were editing`}
      size="xl"
      closes="no click"
    >
      <Conflicts {...props} />
    </Dialog>
  )
}

function Conflicts({ workflowId: _, base, mine, theirs, onResolve, onSavedAsCopy, onClose }: ConflictDialogProps) {
  const trpc = useTRPC()
  const [choices, setChoices] = useState<Record<string, Side>>({})
  const { merged, conflicts } = useMemo(
    () => merge(base, mine, theirs.definition, choices),
    [base, mine, theirs.definition, choices],
  )
  const others = useMemo(() => sizeOfDiff(diffDefinitions(base, theirs.definition)), [base, theirs.definition])
  const copy = useMutation(
    trpc.workflows.create.mutationOptions({
      onSuccess: ({ id, name }) => {
        notifyDone(`Your draft was saved as ${name}.`)
        onSavedAsCopy({ id, name })
      },
    }),
  )
  const name = `${mine.name.slice(0, 180)} (my changes)`
  const all = (side: Side) => setChoices(Object.fromEntries(conflicts.map(({ id }) => [id, side])))
  const mergedChanges = Math.max(0, others - conflicts.length)
  return (
    <Stack>
      <Text size="sm">
        You and {theirs.by} both changed{' '}
        {conflicts.length === 1 ? 'the same thing' : `the same ${conflicts.length} things`}.{' '}
        {mergedChanges > 0 && 'All other changes are merged for you. '}Nothing is overwritten until you choose.
      </Text>
      {conflicts.length > 1 && (
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => all('mine')}>
            Use mine for all
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => all('theirs')}>
            Use theirs for all
          </Button>
        </Group>
      )}
      <ul className={styles.conflicts} aria-label="Conflicts">
        {conflicts.map((conflict) => (
          <li key={conflict.id} className={styles.conflict}>
            <OneConflict
              conflict={conflict}
              by={theirs.by}
              side={choices[conflict.id] ?? 'mine'}
              onChoose={(side) => setChoices((before) => ({ ...before, [conflict.id]: side }))}
            />
          </li>
        ))}
      </ul>
      {copy.error && <ErrorState error={copy.error} title="The copy was not saved" />}
      <DialogButtons
        beside={
          <Button
            variant="default"
            leftSection={<CopyPlus size={16} aria-hidden />}
            loading={copy.isPending}
            onClick={() => copy.mutate({ ...definitionOf(mine), name })}
          >
            Save mine as a copy
          </Button>
        }
      >
        <Button variant="default" onClick={onClose}>
          Decide later
        </Button>
        <Button onClick={() => onResolve(merged)}>Use these choices</Button>
      </DialogButtons>
    </Stack>
  )
}

function OneConflict(props: { conflict: Conflict; by: string; side: Side; onChoose: (side: Side) => void }) {
  const { conflict, by, side, onChoose } = props
  return (
    <>
      <div className={styles.head}>
        <Text fw={500} size="sm">
          {conflict.title}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={`${conflict.title}: which version to use`}
          value={side}
          onChange={(value) => onChoose(value as Side)}
          data={[
            { value: 'mine', label: 'Mine' },
            { value: 'theirs', label: 'Theirs' },
          ]}
        />
      </div>
      <div className={styles.sides}>
        {(['mine', 'theirs'] as const).map((each) => (
          <div key={each} className={styles.side} data-chosen={each === side || undefined}>
            <div className={styles.label}>
              {each === 'mine' ? 'Mine' : `Theirs, by ${by}`}
              {each === side && ', chosen'}
            </div>
            <SideValue value={conflict[each]} label={`${conflict.title}, ${each}`} />
          </div>
        ))}
      </div>
    </>
  )
}

function SideValue({ value, label }: { value: unknown; label: string }) {
  if (value === null) {
    return (
      <Text size="sm" c="dimmed">
        Deleted
      </Text>
    )
  }
  return <CodeBlock text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} label={label} wrap />
}
