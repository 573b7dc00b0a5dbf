'use client'
import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Time } from '@/app/_ui/time'
import { diffDefinitions } from '@/server/workflows/diff'
import type { Definition } from '@/server/workflows/schema'
import { type CrashCopy, readCrashCopy, removeCrashCopy } from '../draft/device-copy'
import { sameDefinition } from '../model/merge'

/** Asks whether what was not saved before comes back. Nothing is thrown away without an answer. */
export function RestoreDialog(props: {
  tenantId: string
  workflowId: string
  /** As the server has it. */
  definition: Definition
  onRestore: (copy: CrashCopy) => void
}) {
  const { tenantId, workflowId, definition, onRestore } = props
  const [copy, setCopy] = useState<CrashCopy | null>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the editor opens
  useEffect(() => {
    readCrashCopy(tenantId, workflowId)
      .then((found) => {
        if (!found) return
        if (sameDefinition(found.definition, definition)) void removeCrashCopy(tenantId, workflowId, found.baseVersion)
        else setCopy(found)
      })
      .catch(() => undefined)
  }, [])

  if (!copy) return null
  const close = () => setCopy(null)
  return (
    <Modal
      opened
      onClose={close}
      title="Restore unsaved changes?"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Text size="sm">
          Changes from <Time at={new Date(copy.savedAt)} absolute /> were kept on this device and never reached the
          server.
        </Text>
        <List size="sm">
          {changesOf(definition, copy.definition).map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              void removeCrashCopy(tenantId, workflowId, copy.baseVersion)
              close()
            }}
          >
            Discard them
          </Button>
          <Button
            onClick={() => {
              onRestore(copy)
              close()
            }}
          >
            Restore
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function changesOf(saved: Definition, kept: Definition): string[] {
  const { steps, edges, payload, meta } = diffDefinitions(saved, kept)
  const lines = [
    ...steps.map((step) => `Step ${step.stepId}: ${step.kind}`),
    ...payload.map((field) => `START field ${field.name}: ${field.kind}`),
    ...meta.map((change) => `${change.path}: changed`),
    ...(edges.length > 0 ? [`Connections: ${edges.length} changed`] : []),
  ]
  return lines.length > 8 ? [...lines.slice(0, 8), `and ${lines.length - 8} more`] : lines
}
