import { Alert, Button } from '@mantine/core'
import { Hourglass } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { useNow } from '@/app/_ui/time'
import type { PauseSignal } from '@/server/definition/run'
import type { ShownHeld } from '@/server/views/tasks/held'
import styles from './remark.module.css'
import { useUndoAnswer } from './use-undo-answer'

/** Replaces the form while this or another user can still undo an answer. */
export function Held({
  held,
  runId,
  pauseId,
  signal,
  onSettled,
}: {
  held: ShownHeld
  runId: string
  pauseId: string
  signal: PauseSignal
  onSettled: () => void
}) {
  const undo = useUndoAnswer()
  const end = useMemo(() => Date.now() + held.leftMs, [held.leftMs])
  const left = Math.max(0, Math.ceil((end - useNow(250)) / 1_000))
  const settled = useRef(onSettled)
  settled.current = onSettled
  const over = left === 0
  useEffect(() => {
    if (!over) return
    const timer = setInterval(() => settled.current(), AGAIN_MS)
    return () => clearInterval(timer)
  }, [over])
  const seconds = over ? 'now' : `in ${left} s`
  return (
    <Alert
      variant="light"
      color="gray"
      icon={<Hourglass size={18} aria-hidden />}
      title={
        held.own
          ? held.label === null
            ? 'You have answered'
            : `You chose “${held.label}”`
          : `${held.name} is answering`
      }
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      {held.remark !== null && <p className={styles.remark}>“{held.remark}”</p>}
      {held.own || over
        ? `The run gets the answer ${seconds}.`
        : `The run gets the answer ${seconds}, unless it is undone.`}
      {held.own && !over && (
        <Button
          variant="default"
          size="compact-sm"
          display="block"
          mt="xs"
          onClick={() => undo({ runId, pauseId, signal })}
        >
          Undo
        </Button>
      )}
    </Alert>
  )
}

/** The interval for checking whether the run has the answer. */
const AGAIN_MS = 1_000
