'use client'
import { Button, Stack, Text } from '@mantine/core'
import { useEffect, useMemo, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { Time } from '@/app/_ui/time'
import { diffDefinitions } from '@/server/definition/diff'
import type { FoundCopy } from '../../../_draft/copies'
import { Differences } from '../canvas/differences'
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
    <Dialog onClose={close} title="Restore unsaved changes?" size="xl" closes="nothing">
      <Stack>
        <Text size="sm">
          This device kept changes from <Time at={new Date(copy.at)} absolute /> that were never saved to the server.
        </Text>
        <Changes saved={draft.getState().base.definition} kept={copy.value} />
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

function Changes({ saved, kept }: { saved: Kept['definition']; kept: Kept }) {
  const { definition, layout } = kept
  const diff = useMemo(() => diffDefinitions(saved, definition), [saved, definition])
  return <Differences label="Changes that were not saved" before={saved} after={definition} {...{ layout, diff }} />
}
