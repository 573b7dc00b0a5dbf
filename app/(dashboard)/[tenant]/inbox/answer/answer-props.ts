import type { PauseSignal } from '@/server/definition/run'
import type { ShownHeld } from '@/server/views/tasks/held'
import type { TaskPeople } from '@/server/views/tasks/people'

export interface AnswerProps {
  runId: string
  pauseId: string
  signal: PauseSignal
  /** Called when the pause was answered, here or elsewhere: reload its state. */
  onSettled: () => void
  /** Called after `onSettled` when the answer came from here. */
  onAnswered?: (held: boolean) => void
  /** Called when the answer was undone from the notification, on any page. */
  onUndone?: () => void
  /** Moves the focus to the first field: the user comes from the previous task. */
  focus?: boolean
  /** Why the user may not answer, besides their role. */
  bar?: TaskPeople['bar']
  /** An answer that this or another user can still undo. */
  held?: ShownHeld | null
  /** Lets digits choose an action. Only with a single task on screen. */
  keys?: boolean
}
