'use client'
import { Button, List, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { Time } from '@/app/_ui/time'
import { diffDefinitions } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'
import type { FoundCopy } from '../../../_draft/copies'
import type { DraftStore, Kept } from '../draft/draft-store'

export interface RestoreDialogProps {
  draft: Pick<DraftStore, 'getState' | 'findUnsaved' | 'restoreUnsaved' | 'discardUnsaved'>
}

/** Offers to restore changes that an earlier visit did not save. They stay on this device until the user decides. */
export function RestoreDialog({ draft }: RestoreDialogProps) {
  const [copy, setCopy] = useState<FoundCopy<Kept> | null>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the editor opens
  useEffect(() => {
    draft
      .findUnsaved()
      .then(setCopy)
      .catch(() => undefined)
  }, [])

  if (!copy) return null
  const close = () => setCopy(null)
  return (
    <Dialog onClose={close} title="Restore unsaved changes?" closes="nothing">
      <Stack>
        <Text size="sm">
          This device kept changes from <Time at={new Date(copy.at)} absolute /> that were never saved to the server.
        </Text>
        <List size="sm">
          {changesOf(draft.getState().base.definition, copy.value.definition).map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
        <DialogButtons>
          <Button
            variant="default"
            onClick={() => {
              draft.discardUnsaved(copy)
              close()
            }}
          >
            Discard
          </Button>
          {/* Without a cross, Discard would get the focus, and Enter would lose the changes. */}
          <Button
            data-autofocus
            onClick={() => {
              draft.restoreUnsaved(copy)
              close()
            }}
          >
            Restore
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}

function changesOf(saved: Definition, kept: Definition): string[] {
  const { steps, edges, payload, meta } = diffDefinitions(saved, kept)
  const lines = [
    ...steps.map((step) => `Step ${step.name ?? step.stepId}: ${step.kind}`),
    ...payload.map((field) => `START field ${field.name}: ${field.kind}`),
    ...meta.map((change) => `${change.path}: changed`),
    ...(edges.length > 0 ? [`Connections: ${edges.length} changed`] : []),
  ]
  return lines.length > 8 ? [...lines.slice(0, 8), `and ${lines.length - 8} more`] : lines
}
