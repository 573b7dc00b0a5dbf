'use client'
import { Button, Group, Modal, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { CopyPlus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { diffDefinitions, sizeOfDiff } from '@/server/workflows/diff'
import type { Definition } from '@/server/workflows/schema'
import { definitionOf } from '../model/definition'
import { type Conflict, merge, type Side } from '../model/merge'
import styles from './conflict-dialog.module.css'
import dialog from './dialog.module.css'

export interface ConflictDialogProps {
  opened: boolean
  onClose: () => void
  workflowId: string
  /** What both sides began with. */
  base: Definition
  mine: Definition
  theirs: { version: number; definition: Definition; by: string }
  /** The chosen whole; to be saved with `theirs.version` as the version seen. */
  onResolve: (merged: Definition) => void
  /** Mine was saved as another workflow; this one is left as theirs. */
  onSavedAsCopy: (copy: { id: string; name: string }) => void
}

/** Two people changed the same things: which of each stands is chosen here. Closing it leaves everything as it is. */
export function ConflictDialog(props: ConflictDialogProps) {
  const { opened, onClose, theirs } = props
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`${theirs.by} saved version ${theirs.version} meanwhile`}
      size="xl"
      closeOnClickOutside={false}
    >
      <Conflicts {...props} />
    </Modal>
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
  const apart = Math.max(0, others - conflicts.length)
  return (
    <Stack>
      <Text size="sm">
        {conflicts.length === 1 ? 'One thing was' : `${conflicts.length} things were`} changed here and there in
        different ways. {apart > 0 && 'Everything else comes together by itself. '}Nothing is overwritten until you
        choose.
      </Text>
      {conflicts.length > 1 && (
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => all('mine')}>
            Mine for all
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => all('theirs')}>
            Theirs for all
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
      <Group justify="space-between" className={dialog.footer}>
        <Button
          variant="default"
          leftSection={<CopyPlus size={16} aria-hidden />}
          loading={copy.isPending}
          onClick={() => copy.mutate({ ...definitionOf(mine), name })}
        >
          Save mine as a copy
        </Button>
        <Group>
          <Button variant="default" onClick={onClose}>
            Decide later
          </Button>
          <Button onClick={() => onResolve(merged)}>Use these choices</Button>
        </Group>
      </Group>
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
          aria-label={`${conflict.title}: which side`}
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
        Not there any more
      </Text>
    )
  }
  return <CodeBlock text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} label={label} wrap />
}
