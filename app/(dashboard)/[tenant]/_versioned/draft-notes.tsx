'use client'
import { Button, Group, Text } from '@mantine/core'
import { Archive, TriangleAlert } from 'lucide-react'
import { CodeDiff } from '@/app/_ui/code-diff'
import { Notice } from '@/app/_ui/notice'
import type { Conflict, DraftState } from './draft-state'
import { pretty } from './json'
import { valueAt } from './merge-forms'
import styles from './versioned.module.css'

/** Notices above the form: archived, or changed by another user in the same place. */
export function DraftNotes<T extends object>(props: {
  noun: 'agent' | 'tool'
  archived: boolean
  onRestore: (() => void) | null
  restoring: boolean
  state: DraftState<T>
  onChoose: (side: 'mine' | 'theirs') => void
}) {
  const { noun, archived, onRestore, restoring, state, onChoose } = props
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
      {state.save.kind === 'conflict' && (
        <ConflictNotice conflict={state.save} value={state.value} onChoose={onChoose} />
      )}
    </div>
  )
}

/** Both sides of each conflicting field. Nothing is saved until the user has chosen. */
function ConflictNotice<T extends object>(props: {
  conflict: Conflict<T>
  value: T
  onChoose: (side: 'mine' | 'theirs') => void
}) {
  const { conflict, value, onChoose } = props
  const { fields, by, opened } = conflict
  const you = by !== null && opened.draft.byYou
  const version = `Version ${opened.version}`
  const words = you
    ? { title: 'You changed the same in another tab or browser', theirs: 'What is there', mine: 'what is here' }
    : { title: `${by ?? version} changed what you changed`, theirs: by === null ? version : 'Theirs', mine: 'yours' }
  const who = you ? 'there' : (by ?? `version ${opened.version}`)
  return (
    <Notice tone="warning" icon={TriangleAlert} title={words.title} urgent>
      <Text size="sm">
        Nothing was overwritten. {words.theirs} is above, {words.mine} below. Everything else is merged when you choose.
      </Text>
      <div className={styles.sides}>
        {fields.map(({ path, theirs }) => (
          <section key={path} aria-label={fieldName(path)}>
            <div className={styles.label}>{fieldName(path)}</div>
            <CodeDiff
              label={`${fieldName(path)}: from ${who} to ${you ? 'here' : 'yours'}`}
              before={shown(theirs)}
              after={shown(valueAt(value, path))}
            />
          </section>
        ))}
      </div>
      <Group gap="sm">
        <Button size="compact-sm" variant="default" onClick={() => onChoose('mine')}>
          {you ? 'Keep what is here' : 'Keep mine'}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => onChoose('theirs')}>
          {you ? 'Take what is there' : by === null ? `Take version ${opened.version}` : 'Take theirs'}
        </Button>
      </Group>
    </Notice>
  )
}

function shown(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : pretty(value)
}

/** The display name of `config.allowedHosts`. */
function fieldName(path: string): string {
  const words = (path.split('.').at(-1) ?? path).replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
