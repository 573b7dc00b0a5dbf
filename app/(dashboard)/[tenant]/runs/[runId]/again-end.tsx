import { Alert, Button } from '@mantine/core'
import { DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { HIDDEN } from '@/server/definition/sensitive'
import type { useRerun } from './use-rerun'

/** The end of every form that starts a run again: what *** means in its JSON, the error, and the buttons. */
export function AgainEnd(props: {
  /** The edited text, if it is edited as JSON. */
  json: string | null | undefined
  rerun: ReturnType<typeof useRerun>
  onClose: () => void
}) {
  const { json, rerun, onClose } = props
  return (
    <>
      {json?.includes(HIDDEN) && (
        <Alert color="yellow" variant="light" p="sm">
          Secrets and sensitive fields are shown as ***. A sensitive field that stays so keeps its value; replace
          anything else.
        </Alert>
      )}
      {rerun.error && <ErrorState error={rerun.error} title="The run was not started" />}
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={rerun.isPending}>
          Run again
        </Button>
      </DialogButtons>
    </>
  )
}
