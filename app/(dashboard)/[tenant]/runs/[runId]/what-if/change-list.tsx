'use client'
import { ActionIcon } from '@mantine/core'
import { X } from 'lucide-react'
import type { Words } from '@/server/definition/verdict-text'
import { START } from '../../../workflows/[id]/model/definition'
import { type Changes, countOf, withCame, withFields, without } from './changes'
import styles from './what-if.module.css'

interface Props {
  changes: Changes
  words: Words
  onChange: (changes: Changes) => void
  onOpen: (stepId: string) => void
}

/** Everything that is changed, each with a button that undoes it. */
export function ChangeList({ changes, words, onChange, onOpen }: Props) {
  if (countOf(changes) === 0)
    return (
      <p className={styles.note}>
        Nothing is changed yet. Choose a step on the graph to change an answer, what a call gave, or a field before it.
        Nothing is executed, and the run stays as it is.
      </p>
    )
  const lines = linesOf(changes, words)
  return (
    <ul className={styles.changes} aria-label="Changes">
      {lines.map(({ key, text, stepId, undone }) => (
        <li key={key}>
          <button type="button" className={styles.link} onClick={() => onOpen(stepId)}>
            {text}
          </button>
          <ActionIcon variant="subtle" color="gray" aria-label={`Undo: ${text}`} onClick={() => onChange(undone)}>
            <X size={14} aria-hidden />
          </ActionIcon>
        </li>
      ))}
    </ul>
  )
}

function linesOf(changes: Changes, { step }: Words) {
  return [
    ...Object.keys(changes.input).map((name) => ({
      ...{ key: `input ${name}`, text: `${name} at the start`, stepId: START },
      undone: { ...changes, input: without(changes.input, name) },
    })),
    ...changes.data.flatMap(({ before, fields }) =>
      Object.keys(fields).map((name) => ({
        ...{ key: `data ${JSON.stringify(before)} ${name}`, stepId: before.stepId },
        text: `${name} before ${step(before.stepId)}`,
        undone: withFields(changes, before, without(fields, name)),
      })),
    ),
    ...changes.came.map(({ at, came }) => ({
      ...{ key: `came ${JSON.stringify(at)}`, stepId: at.stepId, undone: withCame(changes, at, null) },
      text: 'failed' in came ? `${step(at.stepId)} fails` : `What ${step(at.stepId)} gives`,
    })),
  ]
}
