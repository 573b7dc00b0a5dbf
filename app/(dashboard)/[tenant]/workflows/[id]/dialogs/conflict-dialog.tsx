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
import type { JsonValue } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { type ConflictField, changedPart, conflictFields } from '../model/conflict-fields'
import { type ConflictWords, conflictWords } from '../model/conflict-words'
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
  theirs: { version: number; definition: Definition; by: string | null }
  /** Called with the chosen definition, to save on top of `theirs`. */
  onResolve: (merged: Definition) => void
  /** Called after mine was saved as another workflow; this one keeps theirs. */
  onSavedAsCopy: (copy: { id: string; name: string }) => void
}

/** Shown when both sides changed the same parts, to choose between them. Closing it changes nothing. */
export function ConflictDialog(props: ConflictDialogProps) {
  const { opened, onClose, theirs } = props
  return (
    <Dialog opened={opened} onClose={onClose} title={conflictWords(theirs.by).title} size="xl" closes="no click">
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
  const words = conflictWords(theirs.by)
  const name = `${mine.name.slice(0, 180)} (my changes)`
  const all = (side: Side) => setChoices(Object.fromEntries(conflicts.map(({ id }) => [id, side])))
  const mergedChanges = Math.max(0, others - conflicts.length)
  return (
    <Stack>
      <Text size="sm">
        {words.both} {conflicts.length === 1 ? 'the same thing' : `the same ${conflicts.length} things`}.{' '}
        {mergedChanges > 0 && 'All other changes are merged for you. '}Nothing is overwritten until you choose.
      </Text>
      {conflicts.length > 1 && (
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => all('mine')}>
            {words.all.mine}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => all('theirs')}>
            {words.all.theirs}
          </Button>
        </Group>
      )}
      <ul className={styles.conflicts} aria-label="Conflicts">
        {conflicts.map((conflict) => (
          <li key={conflict.id} className={styles.conflict}>
            <OneConflict
              conflict={conflict}
              words={words}
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
            {words.copy}
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

function OneConflict(props: { conflict: Conflict; words: ConflictWords; side: Side; onChoose: (side: Side) => void }) {
  const { conflict, words, side, onChoose } = props
  const fields = useMemo(() => conflictFields(conflict), [conflict])
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
          data={SIDES.map((each) => ({ value: each, label: words.sides[each] }))}
        />
      </div>
      <div className={`${styles.sides} ${fields.length > 0 ? styles.heads : ''}`}>
        {SIDES.map((each) => (
          <div key={each} className={styles.label} data-chosen={each === side || undefined}>
            {words.heads[each]}
            {each === side && ', chosen'}
          </div>
        ))}
      </div>
      {fields.length === 0 ? (
        <div className={styles.sides}>
          {SIDES.map((each) => (
            <WholeValue
              key={each}
              value={conflict[each]}
              label={`${conflict.title}, ${words.sides[each].toLowerCase()}`}
            />
          ))}
        </div>
      ) : (
        fields.map((field) => <FieldSides key={field.path} field={field} title={conflict.title} sides={words.sides} />)
      )}
    </>
  )
}

const SIDES = ['mine', 'theirs'] as const

/** One field on both sides, with each side's changes highlighted. */
function FieldSides(props: { field: ConflictField; title: string; sides: ConflictWords['sides'] }) {
  const { field, title, sides } = props
  const { path, was, changedBy } = field
  return (
    <section className={styles.field} aria-label={path === '' ? title : `${title}, ${path}`}>
      <p className={styles.before}>
        {path !== '' && <strong className="mono">{path} </strong>}
        {was === undefined ? 'Not there before' : <>Before: {shortText(was)}</>}
      </p>
      <div className={styles.sides}>
        {SIDES.map((side) => {
          const changed = changedBy === 'both' || changedBy === side
          return (
            <pre key={side} className={styles.value} data-changed={changed || undefined}>
              <span className={styles.who}>{`${sides[side]}: `}</span>
              {changed ? <Changed was={was} now={field[side]} /> : <span className={styles.same}>Not changed</span>}
            </pre>
          )
        })}
      </div>
    </section>
  )
}

function Changed({ was, now }: { was: JsonValue | undefined; now: JsonValue | undefined }) {
  if (now === undefined) return <mark className={styles.mark}>Removed</mark>
  const [start, middle, end] = was === undefined ? ['', text(now), ''] : changedPart(text(was), text(now))
  return (
    <>
      {start}
      {middle === '' ? (
        <mark className={styles.mark} title="Something was removed here" />
      ) : (
        <mark className={styles.mark}>{middle}</mark>
      )}
      {end}
    </>
  )
}

const text = (value: JsonValue) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

const SHORT = 120

function shortText(value: JsonValue): string {
  const whole = value === '' || value === null ? 'nothing' : text(value)
  return whole.length > SHORT ? `${whole.slice(0, SHORT)}…` : whole
}

function WholeValue({ value, label }: { value: unknown; label: string }) {
  if (value === null) {
    return (
      <Text size="sm" c="dimmed">
        Deleted
      </Text>
    )
  }
  return <CodeBlock text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} label={label} wrap />
}
