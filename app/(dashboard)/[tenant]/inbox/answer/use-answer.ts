import { useMutation } from '@tanstack/react-query'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { notifyUndo } from '@/app/_ui/notify-undo'
import type { PauseSignal } from '@/server/definition/run'
import { useTasksChanged } from '../use-tasks-changed'
import { useUndoAnswer } from './use-undo-answer'

/** Error codes for a task that has changed since it was fetched. */
const OVERTAKEN: readonly string[] = ['RUN_NOT_PAUSED', 'ALREADY_VOTED', 'NOT_ASSIGNED', 'SELF_APPROVAL']

/** Answers a task. While the answer can be undone, a notification offers that on every page. */
export function useAnswer({
  pauseId,
  signal,
  onSettled,
  onAnswered,
  onUndone,
}: {
  pauseId: string
  signal: PauseSignal
  onSettled: () => void
  onAnswered?: ((held: boolean) => void) | undefined
  onUndone?: (() => void) | undefined
}) {
  const trpc = useTRPC()
  const tasksChanged = useTasksChanged()
  const undo = useUndoAnswer()
  const settled = () => {
    tasksChanged()
    onSettled()
  }
  return useMutation(
    trpc.tasks.answer.mutationOptions({
      onSuccess: ({ undoMs }, { runId }) => {
        settled()
        if (undoMs !== null) {
          const takeBack = () => undo({ runId, pauseId, signal, onUndone })
          notifyUndo(signal.title ? `Answered: ${signal.title}` : 'Answered', takeBack, undoMs)
          setTimeout(settled, undoMs + AFTER_MS)
        }
        onAnswered?.(undoMs !== null)
      },
      onError: (error) => {
        if (OVERTAKEN.includes(errorOf(error).code)) settled()
      },
    }),
  )
}

/** By then the run has accepted or refused the answer. */
const AFTER_MS = 1_000
