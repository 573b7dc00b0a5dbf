import { Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { RunOverview } from '@/server/views/runs/overview'
import { AnswerForm } from '../../../inbox/answer/answer-form'
import { Question } from '../../../inbox/answer/question'
import { People } from '../../../inbox/answer/task-people'
import styles from './test-panel.module.css'

/** A task of a test run. It stays in view while it waits: the steps below it, and the form beside it, may be long. */
export function TestTask({
  runId,
  pause,
  onSettled,
}: {
  runId: string
  pause: RunOverview['pauses'][number]
  onSettled: () => void
}) {
  const { id, signal, stepName, people, remarks, reminders, held } = pause
  const card = useRef<HTMLElement>(null)
  useEffect(() => {
    // Its result is no clean-up: browsers have begun to return a promise here.
    card.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const title = signal.title ?? stepName
  return (
    <section ref={card} className={styles.asked} aria-label={`Waits: ${title}`}>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <Question signal={signal} />
      <People people={people} remarks={remarks} reminders={reminders} dueAt={signal.dueAt} />
      <AnswerForm runId={runId} pauseId={id} signal={signal} bar={people.bar} held={held} onSettled={onSettled} />
      {people.bar === 'ALREADY_VOTED' && (
        <Text size="sm" c="dimmed">
          They find the task in the inbox, under Include test runs.
        </Text>
      )}
    </section>
  )
}
