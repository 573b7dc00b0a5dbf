'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { findStep, stepLabel } from '../model/definition'
import { referencesText, referencesTo } from '../model/references'
import { renameStepProblem } from '../model/rename'

export interface RenameDialogProps {
  definition: Definition
  catalog: Catalog
  stepId: string
  onRename: (name: string, id: string) => void
  onClose: () => void
}

/** Changes a step's name and id, and updates the references to it. */
export function RenameDialog(props: RenameDialogProps) {
  const { definition, catalog, stepId, onRename, onClose } = props
  const step = findStep(definition, stepId)
  const [name, setName] = useState(typeof step?.name === 'string' ? step.name : '')
  const [id, setId] = useState(stepId)
  const problem = renameStepProblem(definition, catalog, stepId, id)
  const references = referencesTo(definition, stepId).length
  return (
    <Dialog onClose={onClose} title={`Rename “${stepLabel(definition, stepId)}”`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (problem === null) onRename(name.trim(), id)
        }}
      >
        <Stack>
          <TextInput
            data-autofocus
            label="Name"
            description="What people see. Without a name they see the id."
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label="Id"
            description={referencesText(references)}
            value={id}
            error={problem}
            onChange={(event) => setId(event.currentTarget.value)}
          />
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={problem !== null}>
              Rename
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
