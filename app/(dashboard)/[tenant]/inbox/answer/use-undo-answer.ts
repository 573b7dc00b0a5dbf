import { useQueryClient } from '@tanstack/react-query'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import type { JsonObject } from '@/server/definition/json'
import type { PauseSignal } from '@/server/definition/run'
import { useTenant } from '../../tenant-context'
import { decisionFields, type Fields, keyOfAction, textsOf } from './answer-values'
import { storageKeyOf, storeDraft } from './use-kept-draft'

interface Answered {
  runId: string
  pauseId: string
  signal: PauseSignal
  onUndone?: (() => void) | undefined
}

/**
 * Undoes an answer. The form gets its text back, except for secret and sensitive fields. Not a component's mutation:
 * the task has left the screen when the user clicks in the notification.
 */
export function useUndoAnswer(): (of: Answered) => void {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const cache = useQueryClient()
  const { id } = useTenant()
  const undo = async ({ runId, pauseId, signal, onUndone }: Answered) => {
    const undone = await client.tasks.undo.mutate({ runId, pauseId })
    if (undone === null) return notifyDone('There is nothing to undo any more.')
    const { answer, open } = undone
    if (answer.type === 'collect_inputs' && signal.type === 'collect_inputs') {
      const fields = signal.fields as unknown as Fields
      storeDraft(storageKeyOf(id, runId, pauseId), textsOf(fields, answer.data), fields)
    }
    if (answer.type === 'request_user_action' && signal.type === 'request_user_action') {
      const { actionId, data = {}, remark } = answer
      const fields = decisionFields(signal.actions)
      const own = Object.entries(data).map(([name, value]) => [keyOfAction(actionId, name), value] as const)
      const chosen = own.length > 0 ? { chosen: actionId } : {}
      const texts = textsOf(fields, {
        ...Object.fromEntries(own),
        ...chosen,
        ...(remark ? { remark } : {}),
      } as JsonObject)
      storeDraft(storageKeyOf(id, runId, pauseId), texts, fields)
    }
    onUndone?.()
    notifyDone(`Your answer was undone. ${open ? 'The task is open again.' : 'Meanwhile the task was closed.'}`)
  }
  return (of) =>
    void undo(of)
      .catch((error: unknown) => notifyError(error, 'The answer was not undone'))
      .finally(() => {
        for (const queryKey of [trpc.tasks.pathKey(), trpc.runs.overview.queryKey({ runId: of.runId })])
          cache.invalidateQueries({ queryKey }).catch(() => {})
      })
}
