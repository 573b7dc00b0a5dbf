'use client'
import { Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Dialog } from '@/app/_ui/dialog'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { DescribeForm } from '../../describe-form'
import type { DraftStore } from '../draft/draft-store'
import { changeText, describeTitle } from '../model/described'
import { merge } from '../model/merge'
import { tidyLayout } from '../model/tidy-layout'

export interface DescribeDialogProps {
  draft: Pick<DraftStore, 'getState' | 'change'>
  catalog: Catalog
  /** Gets a sentence about the change. */
  onApplied: (text: string) => void
  onClose: () => void
}

/** Draws the workflow from a description, or changes it as described: one edit, which one undo reverts. */
export function DescribeDialog({ draft, catalog, onApplied, onClose }: DescribeDialogProps) {
  // The definition that the model gets. Another person's save may be merged into the draft meanwhile.
  const [sent] = useState(() => draft.getState().history.present.definition)
  const [applying, setApplying] = useState(false)
  const [clash, setClash] = useState(false)
  const closed = useRef(false)
  useEffect(() => {
    closed.current = false
    return () => {
      closed.current = true
    }
  }, [])
  const isNew = sent.steps.length === 0

  async function apply(offered: Definition) {
    setApplying(true)
    const { definition: before } = draft.getState().history.present
    const { merged, conflicts } = merge(sent, offered, before)
    const layout = await tidyLayout(merged, catalog).catch(() => ({}))
    if (closed.current) return
    const isCurrent = draft.getState().history.present.definition === before
    setApplying(false)
    if (conflicts.length > 0 || !isCurrent) {
      setClash(true)
      return
    }
    draft.change(isNew ? 'describe the process' : 'describe a change', () => ({ definition: merged, layout }))
    onApplied(changeText(before, merged))
    onClose()
  }
  return (
    <Dialog onClose={onClose} title={describeTitle(sent)} size="lg" closes="no click">
      {clash ? (
        <Stack>
          <Text size="sm" role="alert">
            Someone else changed the workflow meanwhile, in the same places. Close this dialog and describe the change
            again.
          </Text>
        </Stack>
      ) : (
        <DescribeForm
          draft={sent}
          action={isNew ? 'Draw it' : 'Change the draft'}
          onOffered={(definition) => void apply(definition)}
          busy={applying}
          focus
          onClose={onClose}
        />
      )}
    </Dialog>
  )
}
