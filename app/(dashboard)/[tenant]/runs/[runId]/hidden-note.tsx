import { Alert } from '@mantine/core'

/** What *** stands for in JSON that somebody edits. */
export function HiddenNote() {
  return (
    <Alert color="yellow" variant="light" p="sm">
      Secrets and sensitive fields are shown as ***. A sensitive field that stays so keeps its value; replace anything
      else.
    </Alert>
  )
}
